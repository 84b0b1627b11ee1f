/*
 * As spin, with 30 us of work on either side and nothing but an atomic load in the waiting loop: the
 * hand-overs are far shorter than a sampling period, and the waiting thread looks as busy as any.
 *
 * Truth: half of s: 12.5, 25, 37.5, 50 (less what the hand-overs cost, well under a microsecond).
 */
#include "../bench.h"
#include <pthread.h>

static int turn;

static void wait_for_turn(int mine) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
    ;
}

static void give_turn(int other) { __atomic_store_n(&turn, other, __ATOMIC_RELEASE); }

static void *left(void *unused) {
  pin(0);
  for (;;) {
    wait_for_turn(0);
    WORK(shrunk(30 * US)); // TARGET
    give_turn(1);
  }
  return unused;
}

static void *right(void *unused) {
  pin(1);
  for (;;) {
    wait_for_turn(1);
    WORK(30 * US);
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
