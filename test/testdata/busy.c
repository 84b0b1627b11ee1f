/*
 * Threads are busy until the test asks them to rest, in FILE, which the test has mapped, too.
 * A thread rests at a place where none of its visits is half done. Each visit is a visit of
 * every point of the program.
 *
 *     busy THREADS [forks|headless] FILE
 *
 * With forks, another process runs this program again and again: each run makes a visit and ends.
 * With headless, the process's first thread ends, and THREADS others go on.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "usdt.h"
#include "whatif.h"

static struct {
  unsigned long pid;
  unsigned long visits;
  unsigned long rest; /* the test asks for it */
  unsigned long resting; /* threads that rest */
  unsigned long threads;
} *shared;
USDT_SEMAPHORE(busy, watched);
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) static void visited(void) { __asm__ volatile(""); }

__attribute__((noinline)) static unsigned long work(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by; // WORK
  return x;
}

static void visit(void) {
  visited();
  WHATIF_PROGRESS("work");
  syscall(SYS_getppid);
  USDT(busy, visit);
  USDT_IF_ENABLED(busy, watched);
  raise(SIGURG); /* which is ignored */
  __atomic_add_fetch(&shared->visits, 1, __ATOMIC_RELAXED); // COUNTED
}

static void rest(void) {
  const struct timespec some = {.tv_nsec = 2000000};
  if (!__atomic_load_n(&shared->rest, __ATOMIC_ACQUIRE))
    return;
  __atomic_add_fetch(&shared->resting, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&shared->rest, __ATOMIC_ACQUIRE)) {
    work(300000 / shared->threads); /* for ticks to meet the process: only then whatif looks at it */
    nanosleep(&some, NULL);
  }
  __atomic_sub_fetch(&shared->resting, 1, __ATOMIC_ACQ_REL);
}

static void *busy(void *unused) {
  for (;;) {
    rest();
    work(20000);
    visit();
  }
  return unused;
}

static void run_anew(char **argv) {
  char *again[] = {argv[0], "0", argv[3], NULL};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    rest();
    if (!fork()) {
      execv("/proc/self/exe", again);
      _exit(1);
    }
    wait(NULL);
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  pthread_attr_t small;
  int fd = argc > 2 ? open(argv[argc - 1], O_RDWR) : -1;
  long n = argc > 2 ? atol(argv[1]) : 0;
  int forks = argc > 3 && !strcmp(argv[2], "forks"), headless = argc > 3 && !forks;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED)
    return 1;
  if (!n) {
    visit();
    return 0;
  }
  if (forks && !fork())
    run_anew(argv);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  for (long i = headless ? 0 : 1; i < n; i++)
    if (pthread_create(&thread, &small, busy, NULL))
      return 1;
  __atomic_store_n(&shared->threads, n + forks, __ATOMIC_RELEASE);
  if (getpid() > 2) /* else this is a PID namespace, and the number means nothing outside */
    __atomic_store_n(&shared->pid, (unsigned long)getpid(), __ATOMIC_RELEASE);
  if (headless)
    pthread_exit(NULL);
  busy(NULL);
}
