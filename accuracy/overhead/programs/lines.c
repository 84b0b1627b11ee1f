/*
 * As switches.c, with turns on a hundred lines in turn: a recording with many units, each with about a hundredth of the
 * time.
 *
 *     lines 0 SECONDS PAIRS STEPS
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

#define LINE(n)                                                                                                        \
  case n:                                                                                                              \
    WORK(steps);                                                                                                       \
    break;

static void work_on(long turn) {
  switch (turn % 100) {
    LINE(0)
    LINE(1)
    LINE(2)
    LINE(3)
    LINE(4)
    LINE(5)
    LINE(6)
    LINE(7)
    LINE(8)
    LINE(9)
    LINE(10)
    LINE(11)
    LINE(12)
    LINE(13)
    LINE(14)
    LINE(15)
    LINE(16)
    LINE(17)
    LINE(18)
    LINE(19)
    LINE(20)
    LINE(21)
    LINE(22)
    LINE(23)
    LINE(24)
    LINE(25)
    LINE(26)
    LINE(27)
    LINE(28)
    LINE(29)
    LINE(30)
    LINE(31)
    LINE(32)
    LINE(33)
    LINE(34)
    LINE(35)
    LINE(36)
    LINE(37)
    LINE(38)
    LINE(39)
    LINE(40)
    LINE(41)
    LINE(42)
    LINE(43)
    LINE(44)
    LINE(45)
    LINE(46)
    LINE(47)
    LINE(48)
    LINE(49)
    LINE(50)
    LINE(51)
    LINE(52)
    LINE(53)
    LINE(54)
    LINE(55)
    LINE(56)
    LINE(57)
    LINE(58)
    LINE(59)
    LINE(60)
    LINE(61)
    LINE(62)
    LINE(63)
    LINE(64)
    LINE(65)
    LINE(66)
    LINE(67)
    LINE(68)
    LINE(69)
    LINE(70)
    LINE(71)
    LINE(72)
    LINE(73)
    LINE(74)
    LINE(75)
    LINE(76)
    LINE(77)
    LINE(78)
    LINE(79)
    LINE(80)
    LINE(81)
    LINE(82)
    LINE(83)
    LINE(84)
    LINE(85)
    LINE(86)
    LINE(87)
    LINE(88)
    LINE(89)
    LINE(90)
    LINE(91)
    LINE(92)
    LINE(93)
    LINE(94)
    LINE(95)
    LINE(96)
    LINE(97)
    LINE(98)
    LINE(99)
  }
}

static void *play(void *argument) {
  struct side *s = argument;
  struct pair *p = s->pair;
  pin(p->cpu);
  for (long turns = 1;; turns++) {
    while (__atomic_load_n(&p->turn, __ATOMIC_ACQUIRE) != s->me)
      syscall(SYS_futex, &p->turn, FUTEX_WAIT_PRIVATE, !s->me, NULL, NULL, 0);
    work_on(turns);
    if (s->me == 0 && turns % (A_VISIT / 2) == 0)
      measured_visit();
    __atomic_store_n(&p->turn, !s->me, __ATOMIC_RELEASE);
    syscall(SYS_futex, &p->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
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
