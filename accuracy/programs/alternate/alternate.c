/*
 * Two independent threads, one on each core, do the same: 30 us of target and 30 us of other work, in turns. So within
 * one sampling period each thread both runs the target and is stopped for the other one's.
 *
 * Truth: half of s: 12.5, 25, 37.5, 50. A profiler for which a sample is worth a whole period, also where the thread
 * was stopped for a part of it, gets this wrong: 14, 29, 43, 50.
 */
#include "../bench.h"
#include <pthread.h>

static void *worker(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (int round = 1;; round++) {
    WORK(shrunk(30 * US)); // TARGET
    WORK(30 * US);
    if (round % 20 == 0)
      visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, worker, (void *)i);
  pthread_join(threads[0], NULL);
}
