/*
 * Three coroutines of one thread, on stacks of their own, pass a token round every 40 us. One of them computes another
 * 60 us, the target. Another thread computes all the time, and no thread waits for it.
 *
 * Truth: 60 of 180 us a round: 8, 17, 25, 33.
 */
#include "../bench.h"
#include <ucontext.h>

static ucontext_t home, contexts[3];

static void body(int which) {
  for (;;) {
    WORK(40 * US);
    if (which == 1)
      WORK(shrunk(60 * US)); // TARGET
    swapcontext(&contexts[which], which == 2 ? &home : &contexts[which + 1]);
  }
}

static void *computing(void *unused) {
  for (;;)
    WORK(1000 * US);
  return unused;
}

int main(int argc, char **argv) {
  static char stacks[3][65536];
  bench_init(argc, argv);
  pthread_t thread;
  pthread_create(&thread, NULL, computing, NULL);
  for (int i = 0; i < 3; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = sizeof stacks[i];
    makecontext(&contexts[i], (void (*)(void))body, 1, i);
  }
  for (;;) {
    swapcontext(&home, &contexts[0]);
    visit();
  }
}
