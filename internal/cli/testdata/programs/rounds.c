/*
 * Works in rounds of some 0.3 ms. Each round ends in round_done. On a busy machine it goes on until it has had a core
 * for half of the SECONDS, so that it has samples.
 *
 *     rounds SECONDS [STATUS]     prints "rounds N" and exits with STATUS
 *     rounds SECONDS tidy         ends in order at a SIGTERM, with status 7
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t over;
static volatile unsigned long odd = 0x9e3779b97f4a7c15;

__attribute__((noinline)) void round_done(void) { __asm__ volatile(""); }
__attribute__((noinline)) void round_never(void) { __asm__ volatile(""); }

static void end(int number) { over = number; }

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static unsigned long work(long n) {
  unsigned long x = 1, by = odd;
  while (n-- > 0)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by; // HOT
  return x;
}

int main(int argc, char **argv) {
  double start = seconds(CLOCK_MONOTONIC), length = argc > 1 ? atof(argv[1]) : 0;
  unsigned long x = 0, rounds = 0;
  int tidy = argc > 2 && strcmp(argv[2], "tidy") == 0;
  if (argc < 2)
    return 2;
  if (tidy)
    signal(SIGTERM, end);
  while (!over && (seconds(CLOCK_MONOTONIC) - start < length || seconds(CLOCK_PROCESS_CPUTIME_ID) < length / 2)) {
    x += work(60000);
    round_done();
    rounds++;
  }
  if (x == 42)
    round_never();
  if (tidy)
    return over ? 7 : 0;
  printf("rounds %lu\n", rounds);
  return argc > 2 ? atoi(argv[2]) : 0;
}
