/*
 * A parent keeps three children going, as make -j3 does, and makes the next when one has ended. A child computes 3 ms,
 * and 3 ms more, the target; the parent computes 0.3 ms for each.
 *
 * Truth: were the two cores always full a child would take (6.3 - 3s)/2 ms, less what making a process takes: 12, 24,
 * 36, 48.
 */
#include "../bench.h"
#include <sys/wait.h>

static void job(void) {
  if (fork_child())
    return;
  WORK(3000 * US);
  WORK(shrunk(3000 * US)); // TARGET
  _exit(0);
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (int i = 0; i < 3; i++)
    job();
  for (;;) {
    if (wait(NULL) < 0)
      die("wait");
    WORK(300 * US);
    job();
    visit();
  }
}
