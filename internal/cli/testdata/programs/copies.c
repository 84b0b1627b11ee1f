/*
 * Half of the time is in work, half in the C library, which copy calls: two
 * milliseconds each in turn, or more on a busy machine, until SECONDS have
 * passed, and it has had a core for half of them. The compiler does not know
 * how many bytes are copied.
 *
 *     copies SECONDS
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char from[1 << 19], to[1 << 19];
static volatile unsigned long odd = 0x9e3779b97f4a7c15, size = sizeof from;

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

__attribute__((noinline)) static unsigned long work(double until) {
  unsigned long x = 1;
  while (seconds() < until)
    for (int i = 0; i < 10000; i++)
      x = x * odd ^ odd;
  return x;
}

__attribute__((noinline)) static unsigned long copy(double until) {
  unsigned long n = 0;
  while (seconds() < until) {
    memcpy(to, from, size); // COPY
    n += (unsigned char)to[n % size];
  }
  return n;
}

int main(int argc, char **argv) {
  double length = argc > 1 ? atof(argv[1]) : 1, end = seconds() + length;
  unsigned long x = 0;
  while (seconds() < end || seconds_of(CLOCK_PROCESS_CPUTIME_ID) < length / 2) {
    x += work(seconds() + 0.002);
    x += copy(seconds() + 0.002);
  }
  return x == 42;
}
