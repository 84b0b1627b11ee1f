/*
 * Two pinned threads that compute 60 calls deep in different functions, none of them in scope: each sample's
 * stack is followed to its end. A visit each 2 ms of work.
 */
#include "measured.h"

/* From here on the debug information says that this is the system's. */
#line 1 "/usr/include/deep.h"

/* The asm keeps the call from being the last thing that the caller does. */
#define CALLS(name, next)                                                                                              \
  __attribute__((noinline, noclone)) static void name(void) {                                                          \
    next();                                                                                                            \
    __asm__ volatile("");                                                                                              \
  }
#define TEN(name, next)                                                                                                \
  CALLS(name##_9, next)                                                                                                \
  CALLS(name##_8, name##_9)                                                                                            \
  CALLS(name##_7, name##_8)                                                                                            \
  CALLS(name##_6, name##_7)                                                                                            \
  CALLS(name##_5, name##_6)                                                                                            \
  CALLS(name##_4, name##_5)                                                                                            \
  CALLS(name##_3, name##_4)                                                                                            \
  CALLS(name##_2, name##_3)                                                                                            \
  CALLS(name##_1, name##_2)                                                                                            \
  CALLS(name, name##_1)

__attribute__((noinline, noclone)) static void bottom(void) { WORK(2000 * US); }

TEN(f, bottom)
TEN(e, f)
TEN(d, e)
TEN(c, d)
TEN(b, c)
TEN(a, b)

static void *run(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;) {
    a();
    measured_visit();
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  for (intptr_t cpu = 0; cpu < 2; cpu++)
    start_thread(run, (void *)cpu);
  measure();
}
