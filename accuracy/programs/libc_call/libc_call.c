/*
 * One thread prints numbers into a buffer (the target: nearly all of its time is deep inside libc, in code without
 * frame pointers), then computes as long.
 *
 * Truth: the target's share, about half, of s: measured, as the libc decides what printing costs.
 */
#include "../bench.h"

static double number = 1.0 / 3;
static char text[64];

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    for (long i = shrunk(6000); i > 0; i--) snprintf(text, sizeof text, "%.17g", number * (double)i); // TARGET
    WORK(1000 * US);
    visit();
  }
}
