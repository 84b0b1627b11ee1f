/*
 * One thread copies memory (the target: all of its time is in the C library's memcpy, hand-written code without a
 * frame), then computes as long.
 *
 * Truth: the target's share of s, by how fast memory is: measured.
 */
#include "../bench.h"

#define BYTES (64 << 10)

static char from[BYTES], to[BYTES];

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    for (long i = shrunk(1200); i > 0; i--) memcpy(to, from, BYTES - (size_t)(i & 15)); // TARGET
    WORK(800 * US);
    visit();
  }
}
