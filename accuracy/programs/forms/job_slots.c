/*
 * A build: twelve children of 2 ms, of which 1.2 are the target, at most two at a time. When all have ended the parent
 * computes 4 ms.
 *
 * Truth, without what making children takes: 11, 22, 34, 45.
 */
#include "../bench.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    for (int started = 0, ended = 0; ended < 12;) {
      if (started < 12 && started - ended < 2) {
        started++;
        if (fork_child())
          continue;
        WORK(800 * US);
        WORK(shrunk(1200 * US)); // TARGET
        _exit(0);
      }
      if (wait(NULL) < 0)
        die("waiting for a child");
      ended++;
    }
    WORK(4000 * US);
    visit();
  }
}
