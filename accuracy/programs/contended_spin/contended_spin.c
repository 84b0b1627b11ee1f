/*
 * A slope that goes down. One thread serves requests: 1 ms of its own work, then 0.3 ms under a spin lock. Another
 * thread maintains the table that the lock protects, again and again: it prepares (6 ms, the target), then holds the
 * lock for 2 ms. Both are pinned, and the lock is fair (a ticket lock).
 *
 * Truth: the faster the preparation, the more often the lock is held, and the slower are the requests. With no
 * preparation every request waits for a whole round of the other thread, and takes about 2.3 ms instead of about 1.6:
 * the gain falls from 0 to about -45. The requests' own work varies at random by half, because otherwise the two
 * threads' rounds would lock into step and make the curve jump.
 */
#include "../bench.h"
#include <pthread.h>

static unsigned next_ticket, serving;

static void lock(void) {
  unsigned mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine)
    __builtin_ia32_pause();
}

static void unlock(void) { __atomic_store_n(&serving, serving + 1, __ATOMIC_RELEASE); }

static void *look_after(void *unused) {
  pin(0);
  for (;;) {
    WORK(shrunk(6000 * US)); // TARGET
    lock();
    WORK(2000 * US);
    unlock();
  }
  return unused;
}

static void *serve(void *unused) {
  uint64_t random = 1;
  pin(1);
  for (;;) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    WORK(500 * US + (long)((random >> 32) * (1000 * US) >> 32));
    lock();
    WORK(300 * US);
    unlock();
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, look_after, NULL);
  pthread_create(&threads[1], NULL, serve, NULL);
  pthread_join(threads[0], NULL);
}
