/*
 * A shell-like parent forks and executes workers, two at a time, some sixty a second. Each computes 18 ms (the target)
 * and 12 ms of other work, and exits. The end of a worker is one visit.
 *
 * Truth: the two cores are always full: 60% of s, less what fork, exec and exit cost: about 15, 30, 45, 60. Every
 * worker is a new process image, at a new random address.
 */
#include "../bench.h"
#include <sys/wait.h>

static void work(void) {
  WORK(shrunk(18000 * US)); // TARGET
  WORK(12000 * US);
}

static void start_worker(char **argv) {
  if (fork_child() == 0) {
    execl("/proc/self/exe", argv[0], argv[1], argv[2], "worker", (char *)NULL);
    die("executing a worker");
  }
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  if (argc > 3) {
    work();
    return 0;
  }
  start_worker(argv);
  start_worker(argv);
  for (;;) {
    if (wait(NULL) < 0)
      die("waiting for a worker");
    visit();
    start_worker(argv);
  }
}
