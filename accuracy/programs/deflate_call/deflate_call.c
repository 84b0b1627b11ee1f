/*
 * One thread compresses (the target: all of its time is three calls deep in zlib, which has no frame pointers), then
 * computes about as long. Not two threads: the two halves of one core slow each other down, so a target that really
 * shrinks would help the other thread in a way that whatif is not asked about.
 *
 * Truth: the target's share of s: measured.
 */
#include "../bench.h"
#include <zlib.h>

#define BYTES 4096

static Bytef text[BYTES], packed[2 * BYTES];

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (long i = 0; i < BYTES; i++)
    text[i] = (Bytef)"what if it were faster"[(i * i >> 7) % 22];
  for (;;) {
    for (long i = shrunk(20); i > 0; i--) compress2(packed, &(uLongf){sizeof packed}, text, BYTES, 6); // TARGET
    WORK(2000 * US);
    visit();
  }
}
