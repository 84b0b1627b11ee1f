/*
 * Programs that count their own visits exactly, in memory that all their processes share.
 *
 *     counts HOW N ...     prints "visits V" when no thread is left that may visit
 *
 * One after the other; orphans can only come last.
 *
 * A visit is a call of visited(), a system call getppid, and a passage of the tracepoint timer:itimer_state.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef IN_SOURCE
#include "whatif.h"
#endif

#include "usdt.h"

static struct {
  long visits;
  long alive;
} *shared;
static const char *self;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

USDT_SEMAPHORE(counts, enabled);

#ifdef LONG_NOP /* as the first instruction */
__attribute__((noinline, naked)) void visited(void) {
  __asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0, 0; ret");
}
#else
__attribute__((noinline)) void visited(void) {
  __asm__ volatile(""); // VISIT
  USDT(counts, visit);
  USDT_IF_ENABLED(counts, enabled);
}
#endif

static void visit(void) {
  __atomic_add_fetch(&shared->visits, 1, __ATOMIC_RELAXED);
  visited();
  syscall(SYS_getppid);
  static const struct itimerval none;
  setitimer(ITIMER_REAL, &none, NULL);
#ifdef IN_SOURCE
  WHATIF_PROGRESS("visited");
#endif
}

__attribute__((noinline)) static unsigned long work(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by; // WORK
  return x;
}

/* Some 50 microseconds, and a visit. */
static void some(long rounds) {
  while (rounds-- > 0) {
    work(10000);
    visit();
  }
}

static void must(int ok, const char *what) {
  if (ok)
    return;
  perror(what);
  exit(1);
}

static void reap(void) {
  int status;
  must(wait(&status) > 0 && status == 0, "a child");
}

static void report(void) {
  printf("visits %ld\n", shared->visits);
  fflush(stdout);
}

static void *thread(void *rounds) {
  some((long)(intptr_t)rounds);
  return NULL;
}

/* N threads, at most 8 at a time. */
static void threads(long n) {
  pthread_t alive[8];
  for (long i = 0; i < n; i++) {
    if (i >= 8)
      pthread_join(alive[i % 8], NULL);
    must(pthread_create(&alive[i % 8], NULL, thread, (void *)1) == 0, "a thread");
  }
  for (long i = n > 8 ? n - 8 : 0; i < n; i++)
    pthread_join(alive[i % 8], NULL);
}

/* 4 threads for the whole time, N visits each. */
static void longthreads(long n) {
  pthread_t alive[4];
  for (int i = 0; i < 4; i++)
    must(pthread_create(&alive[i], NULL, thread, (void *)(intptr_t)n) == 0, "a thread");
  for (int i = 0; i < 4; i++)
    pthread_join(alive[i], NULL);
}

/* N children, at most 4 at a time, each with 4 threads beside its first. */
static void forks(long n) {
  for (long i = 0; i < n; i++) {
    if (i >= 4)
      reap();
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid)
      continue;
    longthreads(1);
    some(2);
    _exit(0);
  }
  for (long i = 0; i < n && i < 4; i++)
    reap();
}

/* N processes that only visit, and end before whatif can look at them. */
static void brief(long n) {
  for (long i = 0; i < n; i++) {
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
      visit();
      _exit(0);
    }
    reap();
  }
}

/* Runs this program N times, each time loaded at another address. */
static void execs(long n, int by_vfork) {
  for (long i = 0; i < n; i++) {
    pid_t pid = by_vfork ? vfork() : fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
      if (by_vfork)
        visit(); /* a process of its own, in the parent's memory */
      execl(self, self, "again", "0", (char *)NULL);
      _exit(1);
    }
    reap();
  }
}

/* N children of a parent that has ended. The last one reports. */
static void orphans(long n) {
  int begin[2];
  must(pipe(begin) == 0, "a pipe");
  shared->alive = n;
  for (long i = 0; i < n; i++) {
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid)
      continue;
    char byte;
    close(begin[1]);
    if (read(begin[0], &byte, 1) != 0) /* the pipe's end: the parent has ended */
      _exit(1);
    usleep(100000);
    some(20);
    if (__atomic_sub_fetch(&shared->alive, 1, __ATOMIC_ACQ_REL) == 0)
      report();
    _exit(0);
  }
  _exit(0);
}

/* The shared memory is a file without a name. A program that a process executes inherits it. */
enum { MEMORY = 9 };

static void share(int again) {
  if (!again) {
    int fd = memfd_create("counts", 0);
    must(fd >= 0 && ftruncate(fd, sizeof *shared) == 0 && dup2(fd, MEMORY) == MEMORY, "memory");
    close(fd);
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
  must(shared != MAP_FAILED, "memory");
}

int main(int argc, char **argv) {
  if (argc < 3 || argc % 2 == 0)
    return 2;
  self = "/proc/self/exe";
  share(strcmp(argv[1], "again") == 0);
  if (strcmp(argv[1], "again") == 0) {
    some(100);
    return 0;
  }
  for (int i = 1; i < argc; i += 2) {
    const char *how = argv[i];
    long n = atol(argv[i + 1]);
    if (strcmp(how, "threads") == 0)
      threads(n);
    else if (strcmp(how, "longthreads") == 0)
      longthreads(n);
    else if (strcmp(how, "forks") == 0)
      forks(n);
    else if (strcmp(how, "brief") == 0)
      brief(n);
    else if (strcmp(how, "execs") == 0 || strcmp(how, "vforks") == 0)
      execs(n, how[0] == 'v');
    else if (strcmp(how, "orphans") == 0)
      orphans(n);
    else
      return 2;
  }
  report();
  return 0;
}
