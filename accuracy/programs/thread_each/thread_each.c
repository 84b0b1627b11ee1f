/*
 * Two threads for each request, one on each core, that live for half a millisecond: they are over before a profiler
 * that learns about each thread by itself has learned anything.
 *
 * Truth by arithmetic, without what it takes to make a thread: 25, 33, 33, 33.
 */
#include "../bench.h"
#include <pthread.h>

static void *longer(void *unused) {
  pin(0);
  WORK(shrunk(600 * US)); // TARGET
  return unused;
}

static void *shorter(void *unused) {
  pin(1);
  WORK(400 * US);
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (;;) {
    pthread_t a, b;
    if (pthread_create(&a, NULL, longer, NULL) || pthread_create(&b, NULL, shorter, NULL))
      die("starting a thread");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    visit();
  }
}
