/*
 * A parent forks RATE children and exits at once; they live on for SECONDS and visit some 100 times a second
 * each. The last one reports.
 */
#include "scale.h"

int main(int argc, char **argv) {
  double rate, seconds;
  long *visits = shared_counter(), *alive = shared_counter();
  scale_init(argc, argv, &rate, &seconds);
  *alive = (long)rate;
  for (long i = 0; i < (long)rate; i++) {
    pid_t pid = fork(); /* not fork_child: these outlive their parent */
    if (pid < 0)
      die("forking");
    if (pid != 0)
      continue;
    do {
      usleep(10000);
      work_and_visit(visits);
    } while (elapsed() < seconds);
    if (__atomic_sub_fetch(alive, 1, __ATOMIC_ACQ_REL) == 0) {
      report(*visits);
      printf("orphans %ld\n", (long)rate);
      fflush(stdout);
    }
    _exit(0);
  }
}
