/*
 * A program that ends by itself, in three phases that together take SECONDS where the suite was tuned. It reads (30%,
 * one thread), computes (40%, two threads at once: the target), and writes (30%, one thread). The one visit is the end
 * of the run.
 *
 * Truth: a run lasts 1 - 0.4 s: 10, 20, 30, 40.
 */
#include "../bench.h"
#include <pthread.h>

static long steps; /* of the whole run */

static void *compute(void *cpu) {
  pin((int)(intptr_t)cpu);
  WORK(shrunk(steps * 4 / 10)); // TARGET
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int64_t start = monotonic_ns();
  steps = (long)(bench.seconds * 1e6) * US;
  WORK(steps * 3 / 10);
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, compute, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  WORK(steps * 3 / 10);
  progress_done();
  printf("visits 1 seconds %.6f\n", (double)(monotonic_ns() - start) / 1e9);
}
