// Each round starts one half with std::async, in a thread of its own, 2 ms, the target, and computes 1.2 ms itself.
//
// Truth: a round takes max(2(1-s), 1.2) ms, if the new thread is given the other core: 25, 40, 40, 40. It often begins behind the one
// that made it, so the measured truth is what counts.
#include <future>

#include "../bench.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    auto f = std::async(std::launch::async, [] {
      WORK(shrunk(2000 * US)); // TARGET
    });
    WORK(1200 * US);
    f.get();
    visit();
  }
}
