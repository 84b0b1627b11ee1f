/*
 * Two threads, and two in a child process, run two lines of the same code in turns of some 0.2 ms. One line has three
 * times the work of the other. Prints "ns N": the time of both lines in all, by the threads' own clocks.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long *taken; /* shared */
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) static unsigned long once(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0) x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by; // ONCE
  return x;
}

__attribute__((noinline)) static unsigned long thrice(long n) {
  unsigned long x = 1, by = odd;
  n *= 3;
  while (n-- > 0) x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by; // THRICE
  return x;
}

static void *turns(void *none) {
  long begin = now();
  while (now() - begin < 700000000L) {
    long from = now();
    once(10000);
    thrice(10000);
    __atomic_add_fetch(taken, now() - from, __ATOMIC_RELAXED);
  }
  return none;
}

int main(void) {
  int status;
  pthread_t other;
  taken = mmap(NULL, sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t pid = fork();
  if (pid < 0 || taken == MAP_FAILED || pthread_create(&other, NULL, turns, NULL) != 0)
    return 1;
  turns(NULL);
  pthread_join(other, NULL);
  if (pid == 0)
    _exit(0);
  if (wait(&status) < 0 || status != 0)
    return 1;
  printf("ns %ld\n", *taken);
  return 0;
}
