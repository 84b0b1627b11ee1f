/*
 * A child writes pieces of 16 KiB to a pipe, which has room for four, and computes 0.5 ms for each. Its parent reads
 * them and computes 0.8 ms, the target, for each.
 *
 * Truth: 25, 37.5, 37.5, 37.5.
 */
#include "../bench.h"

static char piece[16384];

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int ends[2];
  if (pipe(ends))
    die("making a pipe");
  if (!fork_child())
    for (;;) {
      WORK(500 * US);
      if (write(ends[1], piece, sizeof piece) != sizeof piece)
        _exit(1);
    }
  for (;;) {
    for (size_t got = 0; got < sizeof piece;) {
      ssize_t n = read(ends[0], piece + got, sizeof piece - got);
      if (n <= 0)
        die("reading");
      got += (size_t)n;
    }
    WORK(shrunk(800 * US)); // TARGET
    visit();
  }
}
