/*
 * scale.h: what the programs of the scale command share. Each counts its visits exactly, and prints
 * "visits N seconds T" when everything that may visit has ended: so N is what a profiler must have counted.
 */
#ifndef SCALE_H
#define SCALE_H

#include "../../programs/bench.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int64_t scale_start;

/* Reads "RATE SECONDS"; RATE 0 is as fast as it can. */
static void scale_init(int argc, char **argv, double *rate, double *seconds) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s RATE SECONDS\n", argv[0]);
    exit(2);
  }
  *rate = atof(argv[1]);
  *seconds = atof(argv[2]);
  scale_start = monotonic_ns();
}

static double elapsed(void) { return (double)(monotonic_ns() - scale_start) / 1e9; }

/* Waits until the n-th event is due, if it is not late already. */
static void pace(double rate, long n) {
  if (rate <= 0)
    return;
  int64_t due = scale_start + (int64_t)((double)n / rate * 1e9);
  struct timespec t = {due / 1000000000, due % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
    ;
}

/* Some work, and a visit that is counted. */
static void work_and_visit(long *count) {
  WORK(20 * US);
  progress_done();
  __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

/* A number that forked children share. */
static long *shared_counter(void) {
  long *n = mmap(NULL, sizeof *n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (n == MAP_FAILED)
    die("mapping a counter");
  return n;
}

/* Waits for one child, which must have exited with 0. */
static void reap(pid_t child) {
  int status;
  if (waitpid(child, &status, 0) < 0)
    die("waiting for a child");
  if (status != 0) {
    fprintf(stderr, "scale: a child ended with status %#x\n", status);
    exit(1);
  }
}

static void report(long visits) {
  printf("visits %ld seconds %.6f\n", visits, elapsed());
  fflush(stdout);
}

#endif
