/*
 * Four threads on two cores meet at a barrier: three compute 1 ms, the fourth 0.5 ms and 1.5 ms, the target.
 *
 * Truth: were the cores always full a round would take max(2 - 1.5s, (5 - 1.5s)/2) ms: 7.5, 15, 22.5, 30. The scheduler
 * does not know which thread is the longest.
 */
#include "../bench.h"

static pthread_barrier_t barrier;

static void *worker(void *longest) {
  for (;;) {
    if (longest) {
      WORK(500 * US);
      WORK(shrunk(1500 * US)); // TARGET
    } else {
      WORK(1000 * US);
    }
    pthread_barrier_wait(&barrier);
    if (longest)
      visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 4);
  for (int i = 0; i < 3; i++)
    pthread_create(&thread, NULL, worker, NULL);
  worker(&thread);
}
