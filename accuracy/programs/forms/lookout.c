/*
 * One thread computes 1.5 ms, sets a flag in memory, and waits. Another thread polls the flag, sleeping 0.1 ms, the
 * target, between two polls. Then it computes 0.5 ms and lets the first continue. The sleep is most of what the second
 * does, and worth next to nothing.
 *
 * Truth is measured only: half of a sleep, and a sleep also takes what the machine needs to wake a thread.
 */
#include "../bench.h"
#include <semaphore.h>

static int made;
static sem_t taken;

static void *maker(void *unused) {
  pin(1);
  for (;;) {
    WORK(1500 * US);
    __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
    sem_wait(&taken);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  sem_init(&taken, 0, 0);
  pthread_create(&thread, NULL, maker, NULL);
  pin(0);
  for (;;) {
    while (!__atomic_exchange_n(&made, 0, __ATOMIC_ACQUIRE))
      SLEEP_US(shrunk(100)); // TARGET
    WORK(500 * US);
    sem_post(&taken);
    visit();
  }
}
