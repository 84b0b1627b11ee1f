/*
 * C++: two pinned std::threads, and two phases with a std::barrier after each. In the first phase A computes 3 ms (the
 * target) and B 1 ms; in the second A computes 1 ms and B 3 ms.
 *
 * Truth: a round takes max(3(1-s), 1) + 3 ms: 12.5, 25, 33, 33: first half of s, then nothing more.
 */
#include "../bench.h"
#include <barrier>
#include <thread>

static void first(std::barrier<> &phase_end) {
  pin(0);
  for (;;) {
    WORK(shrunk(3000 * US)); // TARGET
    phase_end.arrive_and_wait();
    WORK(1000 * US);
    phase_end.arrive_and_wait();
  }
}

static void second(std::barrier<> &phase_end) {
  pin(1);
  for (;;) {
    WORK(1000 * US);
    phase_end.arrive_and_wait();
    WORK(3000 * US);
    phase_end.arrive_and_wait();
    visit();
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  std::barrier<> phase_end(2);
  std::thread a(first, std::ref(phase_end)), b(second, std::ref(phase_end));
  a.join();
  b.join();
}
