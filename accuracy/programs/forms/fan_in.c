/*
 * Three children each compute 1.5 ms and write a line to a pipe of their own. The parent selects among the pipes and
 * computes 0.4 ms for each line, the target.
 *
 * Truth: the two cores are always full: a line takes (1.5 + 0.4(1-s))/2 ms: 5, 11, 16, 21.
 */
#include "../bench.h"
#include <sys/select.h>

int main(int argc, char **argv) {
  bench_init(argc, argv);
  int pipes[3][2];
  char line[16] = "a line";
  for (int k = 0; k < 3; k++) {
    if (pipe(pipes[k]))
      die("pipe");
    if (!fork()) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) {
        WORK(1500 * US);
        if (write(pipes[k][1], line, sizeof line) != sizeof line)
          die("write");
      }
    }
  }
  for (;;) {
    fd_set ready;
    FD_ZERO(&ready);
    for (int k = 0; k < 3; k++)
      FD_SET(pipes[k][0], &ready);
    if (select(pipes[2][0] + 1, &ready, NULL, NULL, NULL) < 0)
      die("select");
    for (int k = 0; k < 3; k++) {
      if (!FD_ISSET(pipes[k][0], &ready))
        continue;
      if (read(pipes[k][0], line, sizeof line) != sizeof line)
        die("read");
      WORK(shrunk(400 * US)); // TARGET
      visit();
    }
  }
}
