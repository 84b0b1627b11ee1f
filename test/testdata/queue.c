/* Requests come by the clock, at random, and wait in a queue for one thread. All threads run on one core. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define SERVICE 2000000 /* steps; seven tenths of them are the target */

__attribute__((noinline, noclone)) void came(long n) { __asm__ volatile("# came" : : "r"(n)); }
__attribute__((noinline, noclone)) void served(long n) { __asm__ volatile("# served" : : "r"(n)); }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static long first, last;

static void *serve(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (first == last)
      pthread_cond_wait(&filled, &mutex);
    long n = first++;
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < SERVICE * 3 / 10; i++)
      __asm__ volatile("");
    for (long i = 0; i < SERVICE * 7 / 10; i++) __asm__ volatile(""); /* TARGET */
    served(n);
  }
  return unused;
}

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  long begin = now(), takes;
  for (long i = 0; i < SERVICE * 10L; i++)
    __asm__ volatile("");
  takes = (now() - begin) / 10;
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
  unsigned seed = 1;
  for (long n = 0;; n++) {
    /* On average twice the time that a request takes. */
    long gap = (double)rand_r(&seed) / RAND_MAX * 4 * takes;
    nanosleep(&(struct timespec){gap / 1000000000, gap % 1000000000}, NULL);
    pthread_mutex_lock(&mutex);
    came(n);
    last = n + 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
  }
}
