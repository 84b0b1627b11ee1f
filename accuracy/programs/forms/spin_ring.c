/*
 * Two threads, each on a core of its own, spin on a ring of 16 without a lock. One works 0.06 ms an item, the other
 * 0.08 ms, the target.
 *
 * Truth: an item takes max(0.08(1-s), 0.06) ms: 25, 25, 25, 25.
 */
#include "../bench.h"

#define ROOM 16
static unsigned put, taken;

static void *producer(void *unused) {
  pin(1);
  for (unsigned n = 0;; n++) {
    WORK(60 * US);
    while (n - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) >= ROOM)
      __builtin_ia32_pause();
    __atomic_store_n(&put, n + 1, __ATOMIC_RELEASE);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, producer, NULL);
  pin(0);
  for (unsigned n = 0;; n++) {
    while (__atomic_load_n(&put, __ATOMIC_ACQUIRE) == n)
      __builtin_ia32_pause();
    WORK(shrunk(80 * US)); // TARGET
    __atomic_store_n(&taken, n + 1, __ATOMIC_RELEASE);
    visit();
  }
}
