/*
 * Two threads and one lock: 0.2 ms with it, the target for one of them, and 0.05 ms without. A third thread sleeps 2
 * ms, and has the lock for 0.3 ms.
 *
 * Truth: measured only, as the scheduler and the lock decide how often each thread gets it.
 */
#include "../bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    WORK(shrunk(200 * US)); // TARGET
    pthread_mutex_unlock(&lock);
    WORK(50 * US);
    visit();
  }
  return unused;
}

static void *second(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    WORK(200 * US);
    pthread_mutex_unlock(&lock);
    WORK(50 * US);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, first, NULL) || pthread_create(&thread, NULL, second, NULL))
    die("starting a thread");
  for (;;) {
    SLEEP_US(2000);
    pthread_mutex_lock(&lock);
    WORK(300 * US);
    pthread_mutex_unlock(&lock);
  }
}
