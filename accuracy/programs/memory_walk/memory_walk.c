/*
 * Two threads walk through 16 MiB of their own, each in an unpredictable order, and meet at a barrier: 30,000 steps,
 * the target, for one, and 20,000 for the other.
 *
 * Truth: measured only; steps take longer when both walk.
 */
#include "../bench.h"
#include <pthread.h>

#define SIZE (1 << 22)
static uint32_t *next[2];
static pthread_barrier_t barrier;

/* A macro, so that all of it is on the line that uses it. */
#define WALK(of, steps)                                                                                                \
  do {                                                                                                                 \
    for (long n_ = (steps); n_ > 0; n_--)                                                                              \
      at = (of)[at];                                                                                                   \
    __asm__ volatile("" : : "r"(at));                                                                                  \
  } while (0)

static void *other(void *unused) {
  uint32_t at = 0;
  pin(1);
  for (;;) {
    WALK(next[1], 20000);
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  uint64_t x = 1;
  for (int k = 0; k < 2; k++) {
    next[k] = malloc(SIZE * sizeof *next[k]);
    for (uint32_t i = 0; i < SIZE; i++)
      next[k][i] = i;
    for (uint32_t i = SIZE - 1; i > 0; i--) { /* one cycle through all of them (Sattolo) */
      x = x * 6364136223846793005u + 1442695040888963407u;
      uint32_t j = (uint32_t)((x >> 33) % i), y = next[k][i];
      next[k][i] = next[k][j];
      next[k][j] = y;
    }
  }
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  pin(0);
  uint32_t at = 0;
  for (;;) {
    WALK(next[0], shrunk(30000)); // TARGET
    pthread_barrier_wait(&barrier);
    visit();
  }
}
