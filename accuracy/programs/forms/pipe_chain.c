/*
 * Three processes in a chain of pipes, with blocks of 4 KiB. They work 0.2 ms, 0.5 ms (the target) and 0.3 ms a block.
 *
 * Truth: were the cores always full a block would take max(0.5(1-s), (1 - 0.5s)/2) ms: 12.5, 25, 37.5, 50.
 */
#include "../bench.h"
#include <limits.h>

static char block[PIPE_BUF]; /* the kernel writes and reads that much at once */

static void receive(int fd) {
  if (read(fd, block, sizeof block) != sizeof block)
    _exit(1);
}

static void send_on(int fd) {
  if (write(fd, block, sizeof block) != sizeof block)
    _exit(1);
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int first[2], second[2];
  if (pipe(first) || pipe(second))
    die("making pipes");
  if (!fork_child())
    for (;;) {
      WORK(200 * US);
      send_on(first[1]);
    }
  if (!fork_child())
    for (;;) {
      receive(first[0]);
      WORK(shrunk(500 * US)); // TARGET
      send_on(second[1]);
    }
  for (;;) {
    receive(second[0]);
    WORK(300 * US);
    visit();
  }
}
