/*
 * lock_sleep: three threads sleep 2 ms each with a lock held, and compute 1 ms without. They wait for the lock as
 * a consequence of that sleep.
 * Truth by arithmetic: 25, 50, 75, and on two cores at 100% 1.5 ms of computing for a visit every 2 ms: 75%.
 */
#include "../bench.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *working(void *none) {
  (void)none;
  for (;;) {
    pthread_mutex_lock(&lock);
    SLEEP_US(shrunk(2000)); // TARGET
    pthread_mutex_unlock(&lock);
    WORK(1000 * US);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread, NULL, working, NULL))
      die("starting a thread");
  working(NULL);
}
