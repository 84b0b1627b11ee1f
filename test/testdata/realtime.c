/*
 * realtime work FILE: two threads work on two lines, each on a core of its own. Each round of the
 * first is a visit.
 * realtime wake FILE: a thread of real-time priority on the second core sleeps for 2 ms again and
 * again, and notes how late it wakes up. FILE gets, as words: the process, the number of wake-ups,
 * the worst delay in µs, and the sum of the delays above 1 ms.
 */
#define _GNU_SOURCE
#include "pin.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile struct {
  unsigned long pid;
  unsigned long rounds;
  unsigned long worst;
  unsigned long late;
} *shared;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *beside(void *unused) {
  unsigned long x = 1, by = odd;
  (void)unused;
  take_core(1);
  for (;;) {
    for (int i = 0; i < 100000; i++) x = x * by | 1;
    odd = x | 1;
  }
  return NULL;
}

static void work(void) {
  unsigned long x = 1, by = odd;
  pthread_t thread;
  if (pthread_create(&thread, NULL, beside, NULL))
    _exit(1);
  take_core(0);
  for (;;) {
    for (int i = 0; i < 100000; i++) x = x * by | 1; // SELECTED
    odd = x | 1;
    shared->rounds++;
    done();
  }
}

int main(int argc, char **argv) {
  const struct timespec nap = {.tv_nsec = 2000000};
  const struct sched_param priority = {.sched_priority = 50};
  int fd = argc == 3 ? open(argv[2], O_RDWR) : -1;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED)
    return 1;
  if (!strcmp(argv[1], "work")) {
    shared->pid = getpid();
    work();
  }
  take_core(1);
  if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
    perror("sched_setscheduler");
    return 3;
  }
  shared->pid = getpid();
  for (;;) {
    long before = now(), late;
    nanosleep(&nap, NULL);
    late = (now() - before - nap.tv_nsec) / 1000;
    shared->rounds++;
    if (late > (long)shared->worst)
      shared->worst = late;
    if (late > 1000)
      shared->late += late;
  }
}
