/*
 * Works on one line all the time, and beside it, sleeps for a millisecond again and again and notes by how
 * much too late it is woken. What is worst is in FILE, in microseconds.
 *
 *     stall work|sleep FILE
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile struct {
  unsigned long pid;
  unsigned long rounds;
  unsigned long worst;
} *shared;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
  const struct timespec ms = {.tv_nsec = 1000000};
  int fd = argc == 3 ? open(argv[2], O_RDWR) : -1;
  unsigned long x = 1, by = odd;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED)
    return 1;
  shared->pid = getpid();
  if (!strcmp(argv[1], "work"))
    while (x) {
      shared->rounds++;
      for (int i = 0; i < 100000; i++) x = (((x * by ^ by) * by ^ by) * by ^ by) * by | 1; // SELECTED
    }
  for (;;) {
    long before = now(), late;
    nanosleep(&ms, NULL);
    late = (now() - before - ms.tv_nsec) / 1000;
    shared->rounds++;
    if (late > (long)shared->worst)
      shared->worst = late;
  }
}
