/* cores SECONDS [CORE]: four threads work, on that core alone if there is one. Prints how often they visited. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long seen[4];

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static void *work(void *number) {
  for (;;) {
    uint64_t x = 1;
    __asm__ volatile("" : "+r"(x));
    for (long i = 0; i < 500000; i++)
      x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : : "r"(x));
    seen[(intptr_t)number]++;
    done();
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 2) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[2]), &set);
    if (sched_setaffinity(0, sizeof set, &set))
      return 1;
  }
  for (intptr_t i = 0; i < 4; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)i))
      return 1;
  }
  usleep((useconds_t)(atof(argv[1]) * 1e6));
  printf("%ld\n", seen[0] + seen[1] + seen[2] + seen[3]);
  fflush(stdout);
  _exit(0);
}
