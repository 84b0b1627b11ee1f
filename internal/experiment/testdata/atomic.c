/* A point that is nothing but an atomic counter: it begins with a lock prefix, on which the kernel puts no breakpoint. */
#include "compute.h"

static long visits;

__attribute__((noinline)) void visited(void) { __sync_fetch_and_add(&visits, 1); }

int main(void) {
  for (int i = 0; i < 300; i++) {
    COMPUTE(1000000);
    visited();
  }
}
