/* One thread: a round is 2 ms of work, then 1 ms of other work, and a sleep of 1 ms. */
#include "compute.h"
#include <time.h>

__attribute__((noinline)) void round_done(void) { __asm__ volatile(""); }

int main(void) {
  struct timespec ms = {0, 1000000};
  for (;;) {
    COMPUTE(2e6); /* ONE */
    COMPUTE(1e6); /* OTHER */
    nanosleep(&ms, 0); /* SLEEP */
    round_done();
  }
}
