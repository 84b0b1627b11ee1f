/*
 * A new child for each piece of work: it computes 0.1 ms, the target, and ends. Its parent waits for that.
 *
 * Truth is measured only: most of a round is making and ending a process.
 */
#include "../bench.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    pid_t child = fork();
    if (child < 0)
      die("forking");
    if (child == 0) {
      WORK(shrunk(100 * US)); // TARGET
      _exit(0);
    }
    if (waitpid(child, NULL, 0) != child)
      die("waiting for a child");
    visit();
  }
}
