/*
 * Two kinds of threads compete for two cores: on each core one that makes progress (1.5 ms of target, then
 * 0.5 ms of other work) and two that only compute. Pinned, or the shares of the cores would be random.
 *
 * Truth: the first kind gets its third of a core whatever it does with it: three quarters of s: 19, 38, 56,
 * 75. Who shares a core with the target must pay for it like everyone else, and only once.
 */
#include "../bench.h"
#include <pthread.h>

static void *progressing(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;) {
    WORK(shrunk(1500 * US)); // TARGET
    WORK(500 * US);
    visit();
  }
  return NULL;
}

static void *computing(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;)
    WORK(700 * US);
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[6];
  for (intptr_t i = 0; i < 6; i++)
    pthread_create(&threads[i], NULL, i < 2 ? progressing : computing, (void *)(i % 2));
  pthread_join(threads[0], NULL);
}
