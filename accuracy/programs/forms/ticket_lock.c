/*
 * Two threads, each on a core of its own, spin for a lock with tickets: 0.1 ms with it, the target, and 0.08 ms
 * without.
 *
 * Truth: a round takes max(0.1(1-s), (0.18 - 0.1s)/2) ms: 22, 35, 47, 60.
 */
#include "../bench.h"

static unsigned next, serving;

static void *worker(void *second) {
  pin(second != NULL);
  for (;;) {
    WORK(80 * US);
    unsigned mine = __atomic_fetch_add(&next, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine)
      __builtin_ia32_pause();
    WORK(shrunk(100 * US)); // TARGET
    __atomic_store_n(&serving, mine + 1, __ATOMIC_RELEASE);
    visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, worker, &thread);
  worker(NULL);
}
