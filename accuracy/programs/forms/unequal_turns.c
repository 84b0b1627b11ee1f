/*
 * Two threads share each of two cores, pinned. Both run the target: one for 2 ms of 2.1, and it makes the progress; the
 * other for 0.1 ms of 2.
 *
 * Truth: the first gets a half of its core whatever it does with it: 24, 48, 71, 95.
 */
#include "../bench.h"

static __attribute__((noinline)) void target(long n) {
  WORK(n); // TARGET
}

static void *mostly(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;) {
    target(shrunk(2000 * US));
    WORK(100 * US);
    visit();
  }
  return NULL;
}

static void *seldom(void *cpu) {
  pin((int)(intptr_t)cpu);
  for (;;) {
    target(shrunk(100 * US));
    WORK(1900 * US);
  }
  return NULL;
}

int main(int argc, char **argv) {
  bench_init(argc, argv);
  pthread_t thread;
  if (pthread_create(&thread, NULL, mostly, (void *)0) || pthread_create(&thread, NULL, seldom, (void *)0) ||
      pthread_create(&thread, NULL, seldom, (void *)1))
    die("starting");
  mostly((void *)1);
}
