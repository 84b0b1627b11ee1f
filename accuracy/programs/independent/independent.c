/*
 * Seven threads on two cores, unpinned, that have nothing to do with each other: each round is 4 ms of
 * target and 2 ms of other work.
 *
 * Truth: the cores are always full, so a round costs what it computes: two thirds of s: 17, 33, 50, 67,
 * wherever the scheduler puts the threads. A profiler that lets threads sleep instead of stopping cores
 * gets this wrong: while one thread sleeps another uses its core.
 */
#include "../bench.h"
#include <pthread.h>

static void *worker(void *unused) {
  for (;;) {
    WORK(shrunk(4000 * US)); // TARGET
    WORK(2000 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[7];
  for (int i = 0; i < 7; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  pthread_join(threads[0], NULL);
}
