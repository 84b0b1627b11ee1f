/*
 * Two kinds of threads, two of each, and one lock for all: 0.8 ms with it, the target, and 0.6 ms without; 0.6 ms and 1 ms.
 *
 * Truth: measured only, as it is the scheduler's and the lock's who comes how often.
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
