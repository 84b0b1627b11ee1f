/*
 * sleep_barrier: one thread sleeps 3 ms, another computes 2 ms, then they meet at a barrier.
 * Truth by arithmetic: 25, 33, 33, 33%. With COMPUTE the computing takes 3 ms, and the 2 ms of sleep are the target: 0.
 */
#include "../bench.h"

#ifdef COMPUTE
#define SLEEPS 2000
#define COMPUTES 3000
#else
#define SLEEPS 3000
#define COMPUTES 2000
#endif

static pthread_barrier_t both;

static void *computing(void *none) {
  (void)none;
  for (;;) {
    WORK(COMPUTES * US);
    pthread_barrier_wait(&both);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  pthread_barrier_init(&both, NULL, 2);
  if (pthread_create(&thread, NULL, computing, NULL))
    die("starting a thread");
  for (;;) {
    SLEEP_US(shrunk(SLEEPS)); // TARGET
    pthread_barrier_wait(&both);
    visit();
  }
}
