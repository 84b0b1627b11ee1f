/*
 * Two threads that meet at a barrier after every round: 3 units of work in the marked line against 2. So it is known how
 * much is gained if the line becomes faster, and each kind of point is passed a known number of times.
 *
 *     target SECONDS       prints "rounds N children N"
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../test/testdata/usdt.h"
#ifdef POINTS_IN_SOURCE
#include "../../../whatif.h"
#else
#define WHATIF_PROGRESS(name) ((void)0)
#endif

#define UNIT 30000
#define ROUNDS_PER_CHILD 2

static pthread_barrier_t begin, end;
static atomic_int over;
static volatile unsigned long odd = 0x9e3779b97f4a7c15, sink;

__attribute__((noinline)) void round_begins(void) { __asm__ volatile(""); }
__attribute__((noinline)) void round_done(void) { __asm__ volatile(""); }

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void heavy(void) {
  unsigned long x = 1;
  for (int n = 0; n < 3 * UNIT; n++)
    x = (x * odd) ^ odd; // TARGET
  sink = x;
}

__attribute__((noinline)) static void light(void) {
  unsigned long x = 1;
  for (int n = 0; n < 2 * UNIT; n++)
    x = (x * odd) ^ odd;
  sink = x;
}

/* Time in the kernel, of the calling line's. */
__attribute__((noinline)) static void map_and_unmap(void) {
  const size_t size = 16 << 12;
  char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return;
  for (size_t i = 0; i < size; i += 1 << 12)
    p[i] = 1;
  munmap(p, size);
}

static void *other(void *unused) {
  for (;;) {
    pthread_barrier_wait(&begin);
    if (over)
      return unused;
    light();
    pthread_barrier_wait(&end);
  }
}

int main(int argc, char **argv) {
  double stop = seconds() + (argc > 1 ? atof(argv[1]) : 1);
  unsigned long rounds = 0, children = 0;
  pthread_t thread;
  pthread_barrier_init(&begin, 0, 2);
  pthread_barrier_init(&end, 0, 2);
  pthread_create(&thread, 0, other, 0);
  while (seconds() < stop) {
    round_begins();
    pthread_barrier_wait(&begin);
    heavy();
    map_and_unmap();
    pthread_barrier_wait(&end);
    if (rounds % ROUNDS_PER_CHILD == 0) {
      pid_t child = fork();
      if (child == 0)
        _exit(0);
      if (child > 0 && waitpid(child, 0, 0) == child)
        children++;
    }
    getpriority(PRIO_PROCESS, 0);
    USDT(target, round);
    WHATIF_PROGRESS("rounds");
    round_done();
    rounds++;
  }
  over = 1;
  pthread_barrier_wait(&begin);
  pthread_join(thread, 0);
  printf("rounds %lu children %lu\n", rounds, children);
  return 0;
}
