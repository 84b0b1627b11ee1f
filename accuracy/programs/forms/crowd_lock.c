/*
 * Six threads on two cores share a mutex: 0.02 to 0.18 ms of their own, then 0.01 to 0.11 ms with it, the target.
 *
 * Truth is measured only. The cores would be full if the scheduler put a woken thread on the idle one. Mostly the woken
 * thread waits behind the thread that woke it. That thread takes the lock again and again meanwhile, and all others
 * sleep. The shorter the lock is held, the less that happens: what is measured at 0% cannot show that.
 */
#include "../bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *number) {
  uint64_t x = (uintptr_t)number; // each thread has random numbers of its own
  for (;;) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    long own = 20 + (x >> 33) % 160, locked = 10 + (x >> 48) % 100;
    WORK(own * US);
    pthread_mutex_lock(&mutex);
    WORK(shrunk(locked * US)); // TARGET
    pthread_mutex_unlock(&mutex);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  for (uintptr_t i = 2; i <= 6; i++)
    pthread_create(&thread, NULL, worker, (void *)i);
  worker((void *)1);
}
