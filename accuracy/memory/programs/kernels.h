/* kernels.h: what the programs with kernels share. */
#ifndef KERNELS_H
#define KERNELS_H

/*
 * The clock of the program is the processor's time that it has used: one thread computes, and what
 * other programs take of the processor must not be in the truth.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#undef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID
#include "../../programs/bench.h"

struct kernel {
  const char *name; /* and that of the function with its time */
  void (*run)(void);
};

/* Results that the compiler must not leave out. */
static volatile uint64_t kept;

static int small(void) { return bench.percent == 100; }

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static uint64_t scrambled(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  return x ^ x >> 32;
}

/* Memory of which each page has been written. */
static void *filled(long bytes) {
  void *memory = aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
  if (!memory)
    die("allocating");
  memset(memory, 1, (size_t)bytes);
  return memory;
}

/* A random cycle through cache lines (Sattolo): each has the number of the next one's first word. */
__attribute__((unused)) static long *cycle(long lines) {
  long *next = filled(lines * 64), *order = filled(lines * 8);
  uint64_t seed = 1;
  for (long i = 0; i < lines; i++)
    order[i] = i;
  for (long i = lines - 1; i > 0; i--) {
    long j = (long)(next_random(&seed) % (uint64_t)i), other = order[i];
    order[i] = order[j], order[j] = other;
  }
  for (long i = 0; i < lines; i++)
    next[i * 8] = order[i] * 8;
  free(order);
  return next;
}

static int run_kernel(const struct kernel *all, size_t n, int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s CASE SMALL SECONDS\n", argv[0]);
    return 2;
  }
  bench_init(argc - 1, argv + 1);
  for (size_t i = 0; i < n; i++)
    if (!strcmp(all[i].name, argv[1]))
      all[i].run();
  fprintf(stderr, "%s: no case %s\n", argv[0], argv[1]);
  return 2;
}

#endif
