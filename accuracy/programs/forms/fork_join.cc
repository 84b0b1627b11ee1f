// A tree of std::async, down to eight leaves of 0.6 ms, of which the target is 0.4. Each node computes 0.05 ms and
// starts one of its two halves as a thread. Then it joins that thread and computes 0.1 ms.
//
// Truth is measured only.
#include <future>

#include "../bench.h"

static void solve(int leaves) {
  if (leaves == 1) {
    WORK(200 * US);
    WORK(shrunk(400 * US)); // TARGET
    return;
  }
  WORK(50 * US);
  auto half = std::async(std::launch::async, solve, leaves / 2);
  solve(leaves / 2);
  half.get();
  WORK(100 * US);
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    solve(8);
    visit();
  }
}
