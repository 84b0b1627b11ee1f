/*
 * Two threads, each on a core of its own, compute 0.05 ms (0.02 of it the target) and 0.04 ms, and meet by spinning.
 * The visits are counted in the thread that has less to do: no thread waits for it, so the cost of counting is no part
 * of a round.
 *
 * Truth: a round takes max(0.05 - 0.02 s, 0.04) ms: 10, 20, 20, 20.
 */
#include "../bench.h"

static int rounds[2];

static void meet(int me) {
  int mine = __atomic_add_fetch(&rounds[me], 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&rounds[!me], __ATOMIC_ACQUIRE) < mine)
    __builtin_ia32_pause();
}

static void *longer(void *unused) {
  pin(1);
  for (;;) {
    WORK(30 * US);
    WORK(shrunk(20 * US)); // TARGET
    meet(1);
  }
  return unused;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, longer, NULL);
  pin(0);
  for (;;) {
    WORK(40 * US);
    visit();
    meet(0);
  }
}
