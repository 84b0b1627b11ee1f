/*
 * Two threads for each request, one on each core, that live for half a millisecond. They have ended before a profiler
 * that learns about each thread by itself has learned anything.
 *
 * Truth by arithmetic, without what it takes to make a thread: 25, 33, 33, 33.
 */
#include "../bench.h"
#include <pthread.h>

static void *longer(void *unused) {
  WORK(shrunk(600 * US)); // TARGET
  return unused;
}

static void *shorter(void *unused) {
  WORK(400 * US);
  return unused;
}

/* A thread starts on its core: to move there would take as long as its work. */
static pthread_attr_t on(int which) {
  pthread_attr_t attr;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(bench.cpus[which], &set);
  if (pthread_attr_init(&attr) || pthread_attr_setaffinity_np(&attr, sizeof set, &set))
    die("choosing a core");
  return attr;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pin(1);
  pthread_attr_t first = on(0), second = on(1);
  for (;;) {
    pthread_t a, b;
    if (pthread_create(&a, &first, longer, NULL) || pthread_create(&b, &second, shorter, NULL))
      die("starting a thread");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    visit();
  }
}
