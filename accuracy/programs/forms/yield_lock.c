/*
 * Three threads try a lock, and try again after sched_yield has let other threads run. Each computes 0.5 ms, and 0.3 ms
 * with the lock held, the target.
 *
 * Truth is measured only.
 */
#include "../bench.h"

static int taken;

static void *worker(void *unused) {
  for (;;) {
    WORK(500 * US);
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE))
      sched_yield();
    WORK(shrunk(300 * US)); // TARGET
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  for (int i = 1; i < 3; i++)
    pthread_create(&thread, NULL, worker, NULL);
  worker(NULL);
}
