/*
 * Two pinned threads hand a turn to each other through an atomic, each spinning while the other works: 2 ms (the
 * target) and 1 ms.
 *
 * Truth: only one of them works at a time, so the gain is the target's share of the round: two thirds of s: 17, 33, 50,
 * 67. The waiting thread never sleeps, so no wake-up tells a profiler which thread waited for which.
 *
 * FINE: 30 us on either side, and nothing but an atomic load in the waiting loop. The hand-overs are far shorter than a
 * sampling period, and the waiting thread looks as busy as any. Truth: 12.5, 25, 37.5, 50 (less what the hand-overs
 * cost, well under a microsecond).
 *
 * YIELD: 500 and 300 us, and the waiting thread yields in each turn of its loop. Most of its time is the kernel's, in a
 * system call, and nothing in that tells it from work. Truth: 16, 31, 47, 62.
 */
#include "../bench.h"
#include <pthread.h>

#if defined(FINE)
#define TARGETS 30
#define OTHERS 30
#define PAUSE()
#elif defined(YIELD)
#define TARGETS 500
#define OTHERS 300
#define PAUSE() sched_yield()
#else
#define TARGETS 2000
#define OTHERS 1000
#define PAUSE() __builtin_ia32_pause()
#endif

static int turn;

static void wait_for_turn(int mine) {
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
    PAUSE();
}

static void give_turn(int other) { __atomic_store_n(&turn, other, __ATOMIC_RELEASE); }

static void *left(void *unused) {
  pin(0);
  for (;;) {
    wait_for_turn(0);
    WORK(shrunk(TARGETS * US)); // TARGET
    give_turn(1);
  }
  return unused;
}

static void *right(void *unused) {
  pin(1);
  for (;;) {
    wait_for_turn(1);
    WORK(OTHERS * US);
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
