/*
 * Three threads on two cores, and two locks one after the other: 0.4 ms with the first, the target, 0.3 ms with the
 * second, 0.1 ms with none.
 *
 * Truth: were the cores always full a round would take (0.8 - 0.4s)/2 ms: 12.5, 25, 37.5, 50. They are not: which
 * threads wait for which lock depends on how long each lock is held.
 */
#include "../bench.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  for (;;) {
    pthread_mutex_lock(&first);
    WORK(shrunk(400 * US)); // TARGET
    pthread_mutex_unlock(&first);
    pthread_mutex_lock(&second);
    WORK(300 * US);
    pthread_mutex_unlock(&second);
    WORK(100 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  for (int i = 0; i < 2; i++)
    pthread_create(&thread, NULL, worker, NULL);
  worker(NULL);
}
