/*
 * OpenMP: two threads share a loop of two steps, of 3 ms (the target) and 2 ms, and meet at its end, where libgomp
 * spins for a while before it sleeps.
 *
 * Truth: a round takes max(3(1-s), 2) ms: 25, 33, 33, 33.
 */
#include "../bench.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++) {
      if (i == 0)
        WORK(shrunk(3000 * US)); // TARGET
      else
        WORK(2000 * US);
    }
    visit();
  }
}
