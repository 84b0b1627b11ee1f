/*
 * A parent and two forked children in a ring of pipes, with four tokens that go round. The first child works 2 ms a
 * token (the target) on one core. On the other core the second child works 0.9 ms and the parent 0.3 ms.
 *
 * Truth: a token takes max(2(1-s), 0.9 + 0.3) ms: 25, 40, 40, 40.
 *
 * -DFREE: the same without pinning. Then the kernel tends to wake a process on the core of the process that wrote into
 * the pipe, so the cores are not always both busy. At best a token takes max(2(1-s), 0.9, (3.2-2s)/2) ms: 25, 45, 55,
 * 55.
 */
#include "../bench.h"

static void place(int cpu) {
#ifndef FREE
  pin(cpu);
#else
  (void)cpu;
#endif
}

static void first_child(int in, int out) {
  place(0);
  for (;;) {
    receive_byte(in);
    WORK(shrunk(2000 * US)); // TARGET
    send_byte(out);
  }
}

static void second_child(int in, int out) {
  place(1);
  for (;;) {
    receive_byte(in);
    WORK(also_shrunk(900 * US)); // ALSO
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
  place(1);
  for (int i = 0; i < 4; i++)
    send_byte(pipes[0][1]);
  for (;;) {
    receive_byte(pipes[2][0]);
    WORK(300 * US);
    send_byte(pipes[0][1]);
    visit();
  }
}
