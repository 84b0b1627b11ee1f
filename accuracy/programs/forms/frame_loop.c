/*
 * A game's drawing: each frame takes 4 ms, the target, and 1 ms, and begins 10 ms after the one before.
 *
 * Truth: a frame comes every 10 ms, however fast it is: 0, 0, 0, 0.
 */
#include "../bench.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (;;) {
    WORK(shrunk(4000 * US)); // TARGET
    WORK(1000 * US);
    next = later(next, 10000);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    visit();
  }
}
