/* Two threads handle requests. Two attempts at each fail, and the thread sleeps after both: that takes the time. */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

static volatile uint64_t odd = 0x9e3779b97f4a7c15, result;

__attribute__((noinline)) void done(void) { __asm__ volatile(""); }

static void work(long n) {
  uint64_t x = 1, by = odd;
  while (n-- > 0)
    x = x * by + by;
  result = x;
}

static int attempt(int tries) {
  work(10000);
  return tries == 2;
}

static void *handle(void *none) {
  const struct timespec millisecond = {0, 1000000};
  for (;;) {
    work(400000);
    for (int tries = 0; !attempt(tries); tries++)
      nanosleep(&millisecond, NULL); /* BACKS OFF */
    work(200000);
    done();
  }
  return none;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, handle, NULL))
    return 1;
  handle(NULL);
}
