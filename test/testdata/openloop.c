/* One thread computes all the time, another one makes something every millisecond by the clock. */
#include <pthread.h>
#include <stddef.h>
#include <time.h>

__attribute__((noinline, noclone)) void made(void) { __asm__ volatile("# made"); }
__attribute__((noinline, noclone)) void done(void) { __asm__ volatile("# done"); }

static void *make(void *unused) {
  for (;;) {
    nanosleep(&(struct timespec){0, 1000000}, NULL); /* SLEEP */
    made();
    done();
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  volatile unsigned long x = 1;
  pthread_create(&thread, NULL, make, NULL);
  for (;;)
    x = x * 6364136223846793005u + x; /* WORK */
}
