// Each round starts one half with std::async, in a thread of its own: 2 ms, the target. The main thread computes the
// other half, 1.2 ms.
//
// Truth: a round takes max(2(1-s), 1.2) ms, if the new thread gets the other core: 25, 40, 40, 40. It often begins
// behind the thread that made it, so the measured truth counts.
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
