/*
 * Pairs of threads that do the same in each turn: each hand-over is a context switch.
 *
 *     switches 0 SECONDS PAIRS STEPS
 */
#include "pairs.h"

static inline void work_in(long turn) {
  (void)turn;
  WORK(steps);
}
