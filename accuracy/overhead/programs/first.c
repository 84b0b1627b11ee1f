/* Says when it came to its first instructions, by the wall clock, and then visits for a while. */
#include "../../programs/bench.h"

int main(int argc, char **argv) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  bench_init(argc, argv);
  printf("first %ld.%09ld\n", (long)t.tv_sec, t.tv_nsec);
  for (;;) {
    WORK(1000 * US);
    visit();
  }
}
