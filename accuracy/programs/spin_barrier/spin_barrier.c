/*
 * Two pinned threads compute at the same time (1.5 ms, the target, and 1 ms) and meet at a barrier that spins on a
 * flag. The flag's sense is reversed each round.
 *
 * Truth: as barrier: max(1.5(1-s), 1) ms a round: 25, 33, 33, 33. Here no thread ever sleeps.
 */
#include "../bench.h"
#include <pthread.h>

static int arrived, sense;

static void meet(int *mine) {
  *mine = !*mine;
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == 2) {
    __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&sense, *mine, __ATOMIC_RELEASE);
    return;
  }
  while (__atomic_load_n(&sense, __ATOMIC_ACQUIRE) != *mine)
    __builtin_ia32_pause();
}

static void *slow(void *unused) {
  int mine = 0;
  pin(0);
  for (;;) {
    WORK(shrunk(1500 * US)); // TARGET
    meet(&mine);
  }
  return unused;
}

static void *fast(void *unused) {
  int mine = 0;
  pin(1);
  for (;;) {
    WORK(1000 * US);
    meet(&mine);
    visit();
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, slow, NULL);
  pthread_create(&threads[1], NULL, fast, NULL);
  pthread_join(threads[0], NULL);
}
