/*
 * A child computes 2 ms, the target, and 0.6 ms, and writes a byte to a pipe. Its parent sleeps 0.5 ms by the clock,
 * reads the byte, and computes 0.3 ms.
 *
 * Truth: what the child takes, until that is less than the parent's 0.8 ms and a little: 19, 38, 58, 69.
 */
#include "../bench.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int ends[2];
  if (pipe(ends))
    die("making a pipe");
  if (!fork_child())
    for (;;) {
      WORK(shrunk(2000 * US)); // TARGET
      WORK(600 * US);
      send_byte(ends[1]);
    }
  for (;;) {
    SLEEP_US(500);
    receive_byte(ends[0]);
    WORK(300 * US);
    visit();
  }
}
