/*
 * sleep_compute: one thread sleeps 4 ms and computes 6 ms. A profiler of running threads sees only the latter.
 * Truth by arithmetic: a gain of 10, 20, 30, 40%.
 */
#include "../bench.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    SLEEP_US(shrunk(4000)); // TARGET
    WORK(also_shrunk(6000 * US)); // ALSO
    visit();
  }
}
