/*
 * Four threads on two cores share one mutex. Each round is 0.6 ms of its own work, then 1 ms in the critical section:
 * the target.
 *
 * Truth: were the cores always full where they can be, a round would take max(1-s, (1.6-s)/2) ms. First all threads
 * wait for the lock, then for the cores: 25, 45, 57, 70. The real scheduler lets the lock's holder wait for a core now
 * and then, so the measured truth counts.
 */
#include "../bench.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  for (;;) {
    WORK(also_shrunk(600 * US)); // ALSO
    pthread_mutex_lock(&mutex);
    WORK(shrunk(1000 * US)); // TARGET
    pthread_mutex_unlock(&mutex);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  pthread_join(threads[0], NULL);
}
