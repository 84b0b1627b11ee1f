/*
 * Two pinned threads hand a turn to each other through an atomic, each spinning while the other works:
 * 2 ms (the target) and 1 ms.
 *
 * Truth: only one of them works at a time, so the gain is the target's share of the round: two thirds of s:
 * 17, 33, 50, 67. The waiting thread never sleeps: no wake-up tells a profiler who waited for whom.
 */
#include "../bench.h"
#include <pthread.h>

static int turn;

static void wait_for_turn(int mine) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
    __builtin_ia32_pause();
}

static void give_turn(int other) { __atomic_store_n(&turn, other, __ATOMIC_RELEASE); }

static void *left(void *unused) {
  pin(0);
  for (;;) {
    wait_for_turn(0);
    WORK(shrunk(2000 * US)); // TARGET
    give_turn(1);
  }
  return unused;
}

static void *right(void *unused) {
  pin(1);
  for (;;) {
    wait_for_turn(1);
    WORK(1000 * US);
    visit();
    give_turn(0);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, left, NULL);
  pthread_create(&threads[1], NULL, right, NULL);
  pthread_join(threads[0], NULL);
}
