/*
 * Processes come and go as fast as they can until the test asks them to rest, in FILE, which the test has
 * mapped, too. Then no visit is half done. Each visit is a visit of every point of the program.
 *
 *     storm numbers FILE    a process of the target and a stranger, which is outside it, make children in
 *                           turns, and each child takes the process number of the last one
 *     storm execs FILE      programs with some threads, one of which runs the program again; while they rest
 *                           they go on with that, but make no visits
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "whatif.h"

#define CHAINS 2
#define THREADS 3 /* of each chain, beside its first */

static struct {
  unsigned long pid;
  unsigned long visits;
  unsigned long rest; /* the test asks for it */
  unsigned long resting;
  unsigned long threads; /* that rest */
  unsigned long strangers; /* visits of the stranger's children */
  unsigned long turns; /* how often a number was taken again, or a program was run */
} *shared;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;
static char self[] = "/proc/self/exe", *file;

__attribute__((noinline)) static void visited(void) { __asm__ volatile(""); }

__attribute__((noinline)) static unsigned long work(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by; // WORK
  return x;
}

/* A process begins something, and a later process of the same number ends something: that is no pair. */
__attribute__((noinline)) static void begins(long what) { __asm__ volatile("" ::"r"(what)); }
__attribute__((noinline)) static void ends(long what) { __asm__ volatile("" ::"r"(what)); }

static void visit(unsigned long *count) {
  work(2000);
  visited();
  WHATIF_PROGRESS("work");
  syscall(SYS_getppid);
  __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

static void nap(void) {
  const struct timespec some = {.tv_nsec = 200000};
  nanosleep(&some, NULL);
}

static int asked_to_rest(void) { return __atomic_load_n(&shared->rest, __ATOMIC_ACQUIRE) != 0; }

static void rest(void) {
  const struct timespec some = {.tv_nsec = 2000000};
  if (!asked_to_rest())
    return;
  __atomic_add_fetch(&shared->resting, 1, __ATOMIC_ACQ_REL);
  while (asked_to_rest()) {
    work(250000); /* for ticks to meet the process: only then whatif looks at it */
    nanosleep(&some, NULL);
  }
  __atomic_sub_fetch(&shared->resting, 1, __ATOMIC_ACQ_REL);
}

static int leaf(char *whose) {
  visit(*whose == 's' ? &shared->strangers : &shared->visits);
  return 0;
}

/* Makes a child of that number (0: any). It visits, in odd turns also in a program that it runs. Returns its number. */
static pid_t child(pid_t number, long turn, char *whose) {
  char *again[] = {self, "leaf", whose, file, NULL};
  struct clone_args how = {.exit_signal = SIGCHLD, .set_tid = number ? (unsigned long)&number : 0, .set_tid_size = number != 0};
  pid_t pid = syscall(SYS_clone3, &how, sizeof how);
  if (pid < 0 && errno == EEXIST) { /* another process has that number */
    how.set_tid = how.set_tid_size = 0;
    pid = syscall(SYS_clone3, &how, sizeof how);
  }
  if (pid < 0)
    return -1;
  if (!pid) {
    if (turn & 1)
      ends(1);
    else
      begins(1);
    for (int i = 0; i < 3; i++)
      leaf(whose);
    if (turn & 1)
      execv(self, again);
    _exit(0);
  }
  if (pid == number)
    __atomic_add_fetch(&shared->turns, 1, __ATOMIC_RELAXED);
  waitpid(pid, NULL, 0);
  return pid;
}

static int make_strangers(int from, int to) {
  pid_t number;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (long turn = 0; read(from, &number, sizeof number) == sizeof number; turn++) {
    number = child(number, turn / 2, "stranger");
    if (number < 0 || write(to, &number, sizeof number) != sizeof number)
      return 1;
  }
  return 0;
}

static int numbers(void) {
  int there[2], back[2];
  pid_t number = 0;
  if (pipe(there) || pipe(back))
    return 1;
  if (!fork()) {
    close(there[1]);
    _exit(make_strangers(there[0], back[1]));
  }
  shared->threads = 1;
  __atomic_store_n(&shared->pid, (unsigned long)getpid(), __ATOMIC_RELEASE);
  for (long turn = 0;; turn++) {
    rest();
    number = child(number, turn, "member");
    if (number < 0 || write(there[1], &number, sizeof number) != sizeof number || read(back[0], &number, sizeof number) != sizeof number)
      return 1;
  }
}

/* What a chain's threads do until one of them runs the program again. */
static struct {
  int visits; /* of each thread */
  int done;   /* threads that have made their visits */
  char **next;
} chain;

static void run_anew(void) {
  while (__atomic_load_n(&chain.done, __ATOMIC_ACQUIRE) < THREADS)
    nap();
  __atomic_add_fetch(&shared->turns, 1, __ATOMIC_RELAXED);
  execv(self, chain.next);
  _exit(1);
}

static void *link_of_chain(void *runs_anew) {
  for (int i = 0; i < chain.visits; i++)
    visit(&shared->visits);
  __atomic_add_fetch(&chain.done, 1, __ATOMIC_ACQ_REL);
  if (runs_anew)
    run_anew();
  for (;;) { /* until another thread runs the program again */
    work(20000);
    nap();
  }
  return runs_anew;
}

/* chain PARENT TURN rests|goes FILE */
static int run_chain(char **argv) {
  char turn[24], *next[] = {self, "chain", argv[2], turn, "goes", file, NULL};
  char *one[] = {self, "leaf", "member", file, NULL};
  long n = atol(argv[3]) + 1;
  int rests = argv[4][0] == 'r', asked = asked_to_rest();
  pid_t pid, parent = atoi(argv[2]);
  pthread_t thread;
  pthread_attr_t small;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (kill(parent, 0))
    return 0;
  if (asked != rests)
    __atomic_add_fetch(&shared->resting, asked - rests, __ATOMIC_ACQ_REL);
  snprintf(turn, sizeof turn, "%ld", n);
  next[4] = asked ? "rests" : "goes";
  chain.next = next;
  chain.visits = asked ? 0 : 2;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  for (long i = 0; i < THREADS; i++)
    if (pthread_create(&thread, &small, link_of_chain, !i && n & 1 ? turn : NULL))
      return 1;
  if (!asked && n % 4 == 1 && !posix_spawn(&pid, self, NULL, NULL, one, environ))
    waitpid(pid, NULL, 0);
  if (n & 1)
    for (;;)
      pause();
  run_anew();
  return 1;
}

static void *busy(void *unused) {
  for (;;) {
    rest();
    work(20000);
    visit(&shared->visits);
    nap(); /* leaves most of the time to the chains */
  }
  return unused;
}

static int execs(void) {
  char parent[24], *first[] = {self, "chain", parent, "0", "goes", file, NULL};
  pthread_t thread;
  snprintf(parent, sizeof parent, "%d", getpid());
  for (long i = 0; i < CHAINS; i++)
    if (!fork()) {
      execv(self, first);
      _exit(1);
    }
  if (pthread_create(&thread, NULL, busy, NULL))
    return 1;
  __atomic_store_n(&shared->threads, 2 + CHAINS, __ATOMIC_RELEASE);
  __atomic_store_n(&shared->pid, (unsigned long)getpid(), __ATOMIC_RELEASE);
  busy(NULL);
  return 0;
}

int main(int argc, char **argv) {
  int fd = argc > 2 ? open(file = argv[argc - 1], O_RDWR) : -1;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared == MAP_FAILED)
    return 1;
  if (!strcmp(argv[1], "leaf"))
    return leaf(argv[2]);
  if (!strcmp(argv[1], "chain"))
    return run_chain(argv);
  return !strcmp(argv[1], "numbers") ? numbers() : execs();
}
