/*
 * OpenMP: a loop of twenty iterations of 0.05 to 1 ms, handed out one by one. The target is 0.6 of each. Then one
 * thread computes 2 ms.
 *
 * Truth: the loop takes 5.25 ms of both processors: 11, 22, 33, 43.
 */
#include "../bench.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 1; i <= 20; i++) {
      WORK(i * 20 * US);
      WORK(shrunk(i * 30 * US)); // TARGET
    }
    WORK(2000 * US);
    visit();
  }
}
