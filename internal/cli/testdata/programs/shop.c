/*
 * Serves customers for SECONDS of processor time. Each is a request with a USDT probe at its end.
 *
 *     shop SECONDS     prints "customers N"
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../../test/testdata/usdt.h"

static volatile unsigned long odd = 0x9e3779b97f4a7c15;

USDT_SEMAPHORE(shop, bought);

static inline void served(unsigned long x) {
  odd ^= x & 2; // SERVED
}

__attribute__((noinline)) static unsigned long handle_request(unsigned long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by;
  served(x);
  USDT(shop, left);
  USDT_IF_ENABLED(shop, bought);
  return x;
}

__attribute__((noinline)) void request_done(void) { __asm__ volatile(""); }

/* Called 20 times a microsecond's work: often enough to make counting expensive. */
__attribute__((noinline)) static unsigned long often(unsigned long x) {
  __asm__ volatile("" : "+r"(x));
  return x + 1;
}

static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  unsigned long x = 0, customers = 0;
  if (argc < 2)
    return 2;
  while (used() < atof(argv[1])) {
    x += handle_request(20000);
    for (int i = 0; i < 100; i++)
      x = often(x);
    request_done();
    customers++;
  }
  printf("customers %lu\n", customers + (x == 42));
  return 0;
}
