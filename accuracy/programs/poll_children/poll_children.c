/*
 * A parent starts two children, polls every 300 us whether one has ended (WNOHANG), as scripts and build tools do, and
 * works when both have.
 *
 * Truth: 3 of the longer child's 4 ms, until the other's 2 ms are longer; and starting and sleeping: about 15, 29, 42,
 * 42.
 */
#include "../bench.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    for (int i = 0; i < 2; i++)
      if (fork_child() == 0) {
        if (i) {
          WORK(2000 * US);
        } else {
          WORK(shrunk(3000 * US)); // TARGET
          WORK(1000 * US);
        }
        _exit(0);
      }
    for (int left = 2; left;) {
      if (waitpid(-1, NULL, WNOHANG) > 0)
        left--;
      else
        SLEEP_US(300);
    }
    WORK(1000 * US);
    visit();
  }
}
