/*
 * Pairs of threads that hand over to each other on one core, through a futex. A program that includes this defines
 * work_in(turn), what a thread does in its turn, with steps as it likes.
 *
 *     NAME 0 SECONDS PAIRS STEPS    pairs 1 (one core) or 2 (two cores); steps of work in each turn
 *
 * A visit is 256 hand-overs, so that counting them costs next to nothing.
 */
#include "measured.h"
#include <linux/futex.h>
#include <sys/syscall.h>

#define A_VISIT 256

struct pair {
  int cpu;
  int turn; /* the futex: which of the two may run */
  char pad[64];
};

struct side {
  struct pair *pair;
  int me;
};

static long steps;

static inline void work_in(long turn);

static void await_turn(struct pair *p, int me) {
  while (__atomic_load_n(&p->turn, __ATOMIC_ACQUIRE) != me)
    syscall(SYS_futex, &p->turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
}

static void hand_over(struct pair *p, int me) {
  __atomic_store_n(&p->turn, !me, __ATOMIC_RELEASE);
  syscall(SYS_futex, &p->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *play(void *argument) {
  struct side *s = argument;
  pin(s->pair->cpu);
  for (long turns = 1;; turns++) {
    await_turn(s->pair, s->me);
    work_in(turns);
    if (s->me == 0 && turns % (A_VISIT / 2) == 0)
      measured_visit();
    hand_over(s->pair, s->me);
  }
  return NULL;
}

int main(int argc, char **argv) {
  static struct pair pairs[2];
  static struct side sides[4];
  bench_init(argc, argv);
  if (argc != 5) {
    fprintf(stderr, "usage: %s 0 SECONDS PAIRS STEPS\n", argv[0]);
    return 2;
  }
  steps = atol(argv[4]);
  for (int i = 0; i < 2 * atoi(argv[3]) && i < 4; i++) {
    pairs[i / 2].cpu = i / 2;
    sides[i] = (struct side){&pairs[i / 2], i % 2};
    start_thread(play, &sides[i]);
  }
  measure();
}
