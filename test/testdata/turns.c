/*
 * Threads share two cores, pinned. kinds: on each core, a thread of nice 5 is in the target for three quarters of its
 * time, and two threads only compute. earners: on each core, one thread is nearly always in the target, one seldom.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static __thread volatile int sink;

__attribute__((noinline)) static void work(int parts) {
  for (int i = 0; i < parts * 300; i++) sink = i;
}

__attribute__((noinline)) static void target(int parts) {
  for (int i = 0; i < parts * 300; i++) sink = i; /* TARGET */
}

__attribute__((noinline)) void round_done(void) { __asm__ volatile("nop"); }

static void *share(int cpu, int nice, int in, int out) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) || setpriority(PRIO_PROCESS, (id_t)gettid(), nice))
    _exit(1);
  for (;;) {
    target(in);
    work(out);
    if (in > out)
      round_done();
  }
}

static void *polite(void *cpu) { return share((int)(intptr_t)cpu, 5, 1500, 500); }
static void *computing(void *cpu) { return share((int)(intptr_t)cpu, 0, 0, 700); }
static void *always(void *cpu) { return share((int)(intptr_t)cpu, 0, 2000, 100); }
static void *seldom(void *cpu) { return share((int)(intptr_t)cpu, 0, 100, 1900); }

int main(int argc, char **argv) {
  int kinds = argc > 1 && !strcmp(argv[1], "kinds");
  pthread_t thread;
  for (intptr_t cpu = 0; cpu < 2; cpu++) {
    if (pthread_create(&thread, NULL, kinds ? polite : always, (void *)cpu))
      return 1;
    for (int i = 0; i < (kinds ? 2 : 1); i++)
      if (pthread_create(&thread, NULL, kinds ? computing : seldom, (void *)cpu))
        return 1;
  }
  pause();
}
