/* Two threads that have nothing in common, and a core each: one makes a visit every 20 µs or so, the other only computes. */
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
  take_core(0); /* only now: the other one would begin with it */
  for (;;) {
    COMPUTE(20000);
    done();
  }
}
