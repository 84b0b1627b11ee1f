/*
 * As spin, with 500 us and 300 us of work, and who waits makes room for others in each turn of its loop (sched_yield):
 * most of its time is the kernel's, in a system call, and nothing in that tells it from work.
 *
 * Truth: five eighths of s: 16, 31, 47, 62.
 */
#include "../bench.h"
#include <pthread.h>

static int turn;

static void wait_for_turn(int mine) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
    sched_yield();
}

static void give_turn(int other) { __atomic_store_n(&turn, other, __ATOMIC_RELEASE); }

static void *left(void *unused) {
  pin(0);
  for (;;) {
    wait_for_turn(0);
    WORK(shrunk(500 * US)); // TARGET
    give_turn(1);
  }
  return unused;
}

static void *right(void *unused) {
  pin(1);
  for (;;) {
    wait_for_turn(1);
    WORK(300 * US);
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
