/*
 * bench.h: what the C and C++ programs of the accuracy suite share.
 *
 * Each program has ONE target: a line marked TARGET that does work and nothing else. Its work really shrinks
 * by PERCENT. The program calls visit() once for every unit of progress:
 *
 *     program PERCENT SECONDS    runs SECONDS after its first visit, then prints "visits N seconds T"
 *
 * Work is a fixed number of dependent arithmetic steps, and never ends by the clock: a program that looks at
 * the clock cannot be slowed down, so it would hide the very pauses that a causal profiler inserts.
 */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#ifdef USE_COZ
#include <coz.h>
#endif

/* Steps of WORK (multiply, then add: 4 cycles a step) that take a microsecond here: see bench_calibrate. */
#define US bench_us
static long bench_us;

/* Does n steps of work. A macro, because the debug information then gives all of it to the line that uses it.
 * The two asm statements mean nothing to the processor. They keep the compiler from knowing the number that
 * goes in, and from ignoring the number that comes out. */
#define WORK(n)                                                                                                        \
  do {                                                                                                                 \
    uint64_t x_ = 1;                                                                                                   \
    __asm__ volatile("" : "+r"(x_));                                                                                   \
    for (long i_ = (n); i_ > 0; i_--)                                                                                  \
      x_ = x_ * 6364136223846793005u + 1442695040888963407u;                                                           \
    __asm__ volatile("" : : "r"(x_));                                                                                  \
  } while (0)

static struct {
  int percent;
  int also; /* by how much a second line shrinks, in percent: WHATIF_ALSO */
  double seconds;
  int cpus[2];       /* the two processors of the program */
  int64_t started;   /* when the first visit was, in ns of CLOCK_MONOTONIC; 0 before */
  long visits;       /* since then */
  int finished;
} bench;

__attribute__((noreturn, unused)) static void die(const char *doing) {
  fprintf(stderr, "bench: %s: %s\n", doing, strerror(errno));
  exit(1);
}

/*
 * Measures how fast the processor is, before main. A program that also sleeps has the same truth on every
 * machine only if its work takes the same time there. WHATIF_STEPS gives the speed to all programs of a study,
 * and to the programs that they execute, because measurements differ a little and that would be noise. Without
 * it the fastest of some short loops counts, as at least one of them is not disturbed. WHATIF_CALIBRATION is a
 * factor that simulates a faster or slower processor.
 */
__attribute__((constructor, unused)) static void bench_calibrate(void) {
  const char *known = getenv("WHATIF_STEPS"), *scale = getenv("WHATIF_CALIBRATION");
  const long steps = 100000;
  double best = 0, factor = scale ? atof(scale) : 1;
  bench_us = known ? atol(known) : 0;
  if (bench_us > 0)
    return;
  for (int i = 0; i < 40; i++) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    WORK(steps);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double took = (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
    if (i == 0 || took < best)
      best = took;
  }
  bench_us = (long)((double)steps / best * (factor > 0 ? factor : 1) + 0.5);
  if (bench_us < 1)
    bench_us = 1;
  char text[24];
  snprintf(text, sizeof text, "%ld", bench_us);
  setenv("WHATIF_STEPS", text, 1);
}

/* What is left of the target's n steps. */
__attribute__((unused)) static long shrunk(long n) { return n * (100 - bench.percent) / 100; }

/* What is left of n steps of a program's second line, which is marked ALSO: see accuracy/together. */
__attribute__((unused)) static long also_shrunk(long n) { return n * (100 - bench.also) / 100; }

/* Sleeps that long. For 0 it does not call the kernel, which would still sleep a little. A macro, as WORK. */
#define SLEEP_US(us)                                                                                                   \
  do {                                                                                                                 \
    long us_ = (us);                                                                                                   \
    struct timespec left_ = {us_ / 1000000, us_ % 1000000 * 1000};                                                     \
    while (us_ > 0 && nanosleep(&left_, &left_) && errno == EINTR)                                                     \
      ;                                                                                                                \
  } while (0)

/* Keeps the calling thread on one of the program's two processors. */
__attribute__((unused)) static void pin(int which) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(bench.cpus[which], &set);
  if (sched_setaffinity(0, sizeof set, &set))
    die("pinning a thread");
}

/* Reads PERCENT and SECONDS, and confines the program to two processors, so that the truth is the same on
 * a machine that has more. WHATIF_CORES=1 confines it to one. */
static void bench_init(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s PERCENT SECONDS\n", argv[0]);
    exit(2);
  }
  bench.percent = atoi(argv[1]);
  bench.seconds = atof(argv[2]);
  if (bench.percent < 0 || bench.percent > 100 || bench.seconds <= 0) {
    fprintf(stderr, "bench: PERCENT is 0 to 100, SECONDS more than 0\n");
    exit(2);
  }
  const char *also = getenv("WHATIF_ALSO"), *cores = getenv("WHATIF_CORES");
  const int wanted = cores && atoi(cores) == 1 ? 1 : 2;
  bench.also = also ? atoi(also) : 0;
  if (bench.also < 0 || bench.also > 100) {
    fprintf(stderr, "bench: WHATIF_ALSO is 0 to 100\n");
    exit(2);
  }
  cpu_set_t allowed, two;
  int found = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed))
    die("reading the allowed processors");
  CPU_ZERO(&two);
  for (int cpu = 0; cpu < CPU_SETSIZE && found < wanted; cpu++)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &two);
      bench.cpus[found++] = cpu;
    }
  if (found < wanted) {
    fprintf(stderr, "bench: two processors are needed\n");
    exit(1);
  }
  if (wanted == 1)
    bench.cpus[1] = bench.cpus[0];
  if (sched_setaffinity(0, sizeof two, &two))
    die("choosing two processors");
}

#ifdef __cplusplus
extern "C"
#endif
    /* The progress point: called once a visit, and empty. The asm makes the compiler keep it and its calls. */
    __attribute__((noinline, noclone)) void
    progress_done(void) {
  __asm__ volatile("");
}

static int64_t monotonic_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

__attribute__((unused)) static struct timespec later(struct timespec t, long us) {
  t.tv_nsec += us * 1000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

/* The moment so many microseconds from now, for waits with a timeout. */
__attribute__((unused)) static struct timespec from_now(clockid_t clock, long us) {
  struct timespec t;
  clock_gettime(clock, &t);
  return later(t, us);
}

/* How long requests took, in programs that have some. Sorted at the end. */
static struct {
  int64_t *ns;
  long size;
} bench_latencies;

static int bench_compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void bench_print_latencies(long n) {
  double sum = 0;
  qsort(bench_latencies.ns, (size_t)n, sizeof *bench_latencies.ns, bench_compare);
  for (long i = 0; i < n; i++)
    sum += (double)bench_latencies.ns[i];
  printf("latency mean %.9f p50 %.9f p95 %.9f p99 %.9f\n", sum / (double)n / 1e9,
         (double)bench_latencies.ns[n / 2] / 1e9, (double)bench_latencies.ns[n * 95 / 100] / 1e9,
         (double)bench_latencies.ns[n * 99 / 100] / 1e9);
}

/* One unit of progress. Any thread may call it. The first call starts the clock. The first call after
 * SECONDS reports and ends the program, so that N visits fill exactly T seconds. */
__attribute__((unused)) static void visit(void) {
  progress_done();
#ifdef USE_COZ
  COZ_PROGRESS_NAMED("done");
#endif
  int64_t now = monotonic_ns(), before = 0;
  if (__atomic_compare_exchange_n(&bench.started, &before, now, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return;
  long visits = __atomic_add_fetch(&bench.visits, 1, __ATOMIC_RELAXED);
  double seconds = (double)(now - before) / 1e9;
  if (seconds < bench.seconds || __atomic_exchange_n(&bench.finished, 1, __ATOMIC_ACQ_REL))
    return;
  if (bench_latencies.ns)
    bench_print_latencies(visits);
  printf("visits %ld seconds %.6f\n", visits, seconds);
  exit(0);
}

/* A visit at the end of a request, which took ns. */
__attribute__((unused)) static void answered(int64_t ns) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  if (bench.visits >= bench_latencies.size) {
    bench_latencies.size = 2 * bench_latencies.size + 4096;
    bench_latencies.ns = (int64_t *)realloc(bench_latencies.ns, (size_t)bench_latencies.size * sizeof(int64_t));
    if (!bench_latencies.ns)
      die("keeping latencies");
  }
  bench_latencies.ns[bench.visits] = ns;
  visit();
  pthread_mutex_unlock(&one);
}

/* Forks a child that dies with its parent. Returns 0 in the child, as fork does. */
__attribute__((unused)) static pid_t fork_child(void) {
  pid_t parent = getpid(), pid = fork();
  if (pid < 0)
    die("forking");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(1);
  }
  return pid;
}

/* One byte through a pipe or socket. If the other side is gone the program ends. */
__attribute__((unused)) static void send_byte(int fd) {
  if (write(fd, "x", 1) != 1)
    _exit(1);
}

__attribute__((unused)) static void receive_byte(int fd) {
  char byte;
  if (read(fd, &byte, 1) != 1)
    _exit(1);
}

#endif
