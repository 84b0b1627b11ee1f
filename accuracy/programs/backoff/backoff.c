/*
 * backoff: a thread that finds the lock taken sleeps 2 ms and tries again, as a database in JCoz's study did. The
 * target is that sleep. The work is the same, whatever the sleep is.
 */
#include "../bench.h"

static int taken;

static int try_lock(void) { return !__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE); }

static void *working(void *none) {
  (void)none;
  for (;;) {
    while (!try_lock()) {
      WORK(20 * US);
      SLEEP_US(shrunk(2000)); // TARGET
    }
    WORK(1500 * US);
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
    WORK(500 * US);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;

  bench_init(argc, argv);
  if (pthread_create(&thread, NULL, working, NULL))
    die("starting a thread");
  working(NULL);
}
