/* A point that begins with an atomic addition. The kernel puts no breakpoint on an instruction with a lock prefix. */
#include "compute.h"

static long visits;

__attribute__((noinline)) void visited(void) { __sync_fetch_and_add(&visits, 1); }

int main(void) {
  for (int i = 0; i < 300; i++) {
    COMPUTE(1000000);
    visited();
  }
}
