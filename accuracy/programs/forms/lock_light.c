/*
 * Four threads: 100 µs of their own, of which 60 are the target, and 8 µs with a lock that all share.
 *
 * Truth: the two cores are always full: 14, 28, 42, 56, less what waiting for the lock takes.
 */
#include "../bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  for (;;) {
    WORK(40 * US);
    WORK(shrunk(60 * US)); // TARGET
    pthread_mutex_lock(&lock);
    WORK(8 * US);
    pthread_mutex_unlock(&lock);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (int k = 0; k < 3; k++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, NULL))
      die("starting");
  }
  worker(NULL);
}
