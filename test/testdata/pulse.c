/*
 * Two threads. One works on a line all the time, the other counts rounds of some 50
 * microseconds in FILE, which the test has mapped, too.
 *
 *     pulse FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
  unsigned long pid;
  unsigned long rounds;
} *shared;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) void round_done(void) { __asm__ volatile(""); }

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

int main(int argc, char **argv) {
  pthread_t thread;
  int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED || pthread_create(&thread, NULL, selected, NULL))
    return 1;
  __atomic_store_n(&shared->pid, (unsigned long)getpid(), __ATOMIC_RELEASE);
  for (;;) {
    work(10000);
    round_done();
    __atomic_add_fetch(&shared->rounds, 1, __ATOMIC_RELAXED);
  }
}
