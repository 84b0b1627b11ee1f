/*
 * Three threads. One works on a line all the time. One counts rounds of some 50 microseconds in FILE, which the test
 * has mapped, too. One sleeps and works for a moment between two functions, again and again.
 *
 *     moments FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct {
  unsigned long pid;
  unsigned long rounds;
} *shared;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) void round_done(void) { __asm__ volatile(""); }
__attribute__((noinline)) void begins(void) { __asm__ volatile(""); }
__attribute__((noinline)) void ends(void) { __asm__ volatile(""); }

static void *selected(void *unused) {
  unsigned long x = 1, by = odd;
  while (x)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by | 1; // SELECTED
  return unused;
}

__attribute__((noinline)) static unsigned long work(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by;
  return x;
}

static void *sleeper(void *unused) {
  const struct timespec some = {.tv_nsec = 400000};
  for (;;) {
    nanosleep(&some, NULL);
    begins();
    work(2000);
    ends();
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED || pthread_create(&thread, NULL, selected, NULL) || pthread_create(&thread, NULL, sleeper, NULL))
    return 1;
  __atomic_store_n(&shared->pid, (unsigned long)getpid(), __ATOMIC_RELEASE);
  for (int n = 0;; n++) {
    work(10000);
    if (n % 20 == 0) round_done(); /* not each time, as counting visits would slow the program */
    __atomic_add_fetch(&shared->rounds, 1, __ATOMIC_RELAXED);
  }
}
