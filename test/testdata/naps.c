/* A program without progress points that does two things, one after the other. */
#include <stdint.h>
#include <time.h>

static volatile uint64_t odd = 0x9e3779b97f4a7c15, result;

int main(void) {
  const struct timespec nap = {0, 2000000};
  uint64_t x = 1, by = odd;
  for (int i = 0; i < 20; i++)
    nanosleep(&nap, NULL); /* SLEEPS */
  for (long n = 0; n < 20000000; n++)
    x = x * by + by; /* COMPUTES */
  result = x;
  return 0;
}
