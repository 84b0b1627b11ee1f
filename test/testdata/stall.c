/*
 * With work, works on one line all the time. With sleep, sleeps for a millisecond again and again, and notes the
 * longest delay of a wake-up in FILE, in microseconds.
 *
 * With locks, one thread works on the line, on CPU 1. Another thread, on CPU 0, starts processes, maps memory and opens
 * files, for which the kernel takes locks. With calls, the program does the same as that other thread once a
 * millisecond, on CPU 1, and notes how long the longest turn takes. If a thread is stopped while it has such a lock, a
 * turn takes as long as the stop.
 *
 *     stall work|sleep|locks|calls FILE
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

static void work(void) {
  unsigned long x = 1, by = odd;
  while (x) {
    shared->rounds++;
    for (int i = 0; i < 100000; i++) x = (((x * by ^ by) * by ^ by) * by ^ by) * by | 1; // SELECTED
  }
}

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set); // of the calling thread
}

static void *works(void *unused) {
  pin(1);
  work();
  return unused;
}

/* Makes the kernel take locks that all processes share: for processes, for memory, for a directory. */
static void take_locks(void) {
  const size_t size = 64 * 4096;
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pid_t child = vfork();
  if (!child) _exit(0);
  for (size_t i = 0; memory != MAP_FAILED && i < size; i += 4096) memory[i] = 1;
  munmap(memory, size);
  waitpid(child, NULL, 0);
  close(open("/proc/self/stat", O_RDONLY));
}

int main(int argc, char **argv) {
  const struct timespec ms = {.tv_nsec = 1000000};
  int fd = argc == 3 ? open(argv[2], O_RDWR) : -1;
  pthread_t thread;
  if (fd < 0)
    return 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED)
    return 1;
  shared->pid = getpid();
  if (!strcmp(argv[1], "work")) work();
  if (!strcmp(argv[1], "locks")) {
    if (pthread_create(&thread, NULL, works, NULL)) return 1;
    pin(0);
    for (;;) take_locks();
  }
  if (!strcmp(argv[1], "calls")) {
    pin(1);
    nice(-20);
  }
  while (!strcmp(argv[1], "calls")) {
    nanosleep(&ms, NULL);
    long before = now(), took;
    take_locks();
    took = (now() - before) / 1000;
    shared->rounds++;
    if (took > (long)shared->worst) shared->worst = took;
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
