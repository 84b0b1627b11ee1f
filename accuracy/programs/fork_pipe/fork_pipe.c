/*
 * A parent and two forked children in a ring of pipes, with four tokens going round, unpinned: the parent
 * works 0.5 ms a token, the first child 2 ms (the target), the second 1.2 ms.
 *
 * Truth: a token takes max(2(1-s), 1.2, (3.7-2s)/2) ms: first the target is the slowest, then the two cores
 * are full, then the second child is the slowest: about 20, 33, 40, 40.
 */
#include "../bench.h"

static void first_child(int in, int out) {
  for (;;) {
    receive_byte(in);
    WORK(shrunk(2000 * US)); // TARGET
    send_byte(out);
  }
}

static void second_child(int in, int out) {
  for (;;) {
    receive_byte(in);
    WORK(1200 * US);
    send_byte(out);
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int pipes[3][2];
  for (int i = 0; i < 3; i++)
    if (pipe(pipes[i]))
      die("making a pipe");
  if (fork_child() == 0)
    first_child(pipes[0][0], pipes[1][1]);
  if (fork_child() == 0)
    second_child(pipes[1][0], pipes[2][1]);
  for (int i = 0; i < 4; i++)
    send_byte(pipes[0][1]);
  for (;;) {
    receive_byte(pipes[2][0]);
    WORK(500 * US);
    send_byte(pipes[0][1]);
    visit();
  }
}
