/*
 * sleep_barrier: one thread sleeps 3 ms, another computes 2 ms, then they meet at a barrier.
 * Truth by arithmetic: 25, 33, 33, 33%. With COMPUTE the computing takes 3 ms, and the 2 ms of sleep are the target: 0.
 */
#include "../meeting.h"

#ifdef COMPUTE
#define SLEEPS 2000
#define COMPUTES 3000
#else
#define SLEEPS 3000
#define COMPUTES 2000
#endif

int main(int argc, char **argv) {
  bench_init(argc, argv);
  start_other(computing, COMPUTES);
  for (;;) {
    SLEEP_US(shrunk(SLEEPS)); // TARGET
    pthread_barrier_wait(&both);
    visit();
  }
}
