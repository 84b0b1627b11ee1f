/*
 * Three threads share a mutex, for which they spin a little before they sleep: 0.02 ms with it, the target, and 0.05 ms
 * without.
 *
 * Truth: were the cores always full, a round would take (0.07 - 0.02s)/2 ms: 7, 14, 21, 29.
 */
#include "../bench.h"

static pthread_mutex_t mutex;

static void *worker(void *unused) {
  for (;;) {
    WORK(50 * US);
    pthread_mutex_lock(&mutex);
    WORK(shrunk(20 * US)); // TARGET
    pthread_mutex_unlock(&mutex);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_mutexattr_t kind;
  pthread_t thread;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&mutex, &kind);
  for (int i = 0; i < 2; i++)
    pthread_create(&thread, NULL, worker, NULL);
  worker(NULL);
}
