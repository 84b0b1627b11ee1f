/* Forks, RATE a second, some 8 children alive at a time. Each child visits once and exits. */
#include "scale.h"

int main(int argc, char **argv) {
  double rate, seconds;
  pid_t alive[8];
  long n = 0, *visits = shared_counter();
  scale_init(argc, argv, &rate, &seconds);
  for (; elapsed() < seconds; n++) {
    pace(rate, n);
    if (n >= 8)
      reap(alive[n % 8]);
    alive[n % 8] = fork_child();
    if (alive[n % 8] == 0) {
      work_and_visit(visits);
      _exit(0);
    }
  }
  for (long i = n > 8 ? n - 8 : 0; i < n; i++)
    reap(alive[i % 8]);
  report(*visits);
}
