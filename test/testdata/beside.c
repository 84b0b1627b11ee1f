/* Two independent threads, each on a core of its own. One makes a visit about every 20 µs, the other only computes. */
#define _GNU_SOURCE
#include "compute.h"
#include "pin.h"

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static void *beside(void *unused) {
  take_core(1);
  for (;;)
    COMPUTE(1000000); /* BESIDE */
  return unused;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, 0, beside, 0))
    return 1;
  take_core(0); /* only now, or the other thread would inherit it */
  for (;;) {
    COMPUTE(20000);
    done();
  }
}
