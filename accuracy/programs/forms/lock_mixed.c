/*
 * Two kinds of threads, two of each, and one lock for all. The first kind has the lock for 0.8 ms, the target, and
 * works 0.6 ms without it; the second has it for 0.6 ms and works 1 ms without it.
 *
 * Truth: measured only, as the scheduler and the lock decide how often each thread gets it.
 */
#include "../bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    WORK(shrunk(800 * US)); // TARGET
    pthread_mutex_unlock(&lock);
    WORK(600 * US);
    visit();
  }
  return unused;
}

static void *second(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    WORK(600 * US);
    pthread_mutex_unlock(&lock);
    WORK(1000 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, first, NULL) || pthread_create(&thread, NULL, second, NULL) ||
      pthread_create(&thread, NULL, second, NULL))
    die("starting");
  first(NULL);
}
