/*
 * Two kinds of threads compete for two cores. On each core one thread makes progress (1.5 ms of target, then 0.5 ms of
 * other work) and two threads only compute. Pinned, or the shares of the cores would be random.
 *
 * Truth: the first kind gets its third of a core whatever it does with it: three quarters of s: 19, 38, 56, 75. A
 * thread that shares a core with the target must pay for it like all others, and only once. With other nice values the
 * share is a seventh (PROGRESSING_NICE 5) or three fifths (COMPUTING_NICE 5) of a core, and the truth is the same.
 */
#include "../bench.h"
#include <pthread.h>
#include <sys/resource.h>

#ifndef PROGRESSING_NICE
#define PROGRESSING_NICE 0
#endif
#ifndef COMPUTING_NICE
#define COMPUTING_NICE 0
#endif

static void be_nice(int nice) {
  if (setpriority(PRIO_PROCESS, (id_t)gettid(), nice))
    die("setting a thread's priority");
}

static void *progressing(void *cpu) {
  pin((int)(intptr_t)cpu);
  be_nice(PROGRESSING_NICE);
  for (;;) {
    WORK(shrunk(1500 * US)); // TARGET
    WORK(500 * US);
    visit();
  }
  return NULL;
}

static void *computing(void *cpu) {
  pin((int)(intptr_t)cpu);
  be_nice(COMPUTING_NICE);
  for (;;)
    WORK(700 * US);
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t threads[6];
  for (intptr_t i = 0; i < 6; i++)
    pthread_create(&threads[i], NULL, i < 2 ? progressing : computing, (void *)(i % 2));
  pthread_join(threads[0], NULL);
}
