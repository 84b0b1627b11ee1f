/* spans HOW SECONDS: requests that take 2 ms or more by the clock. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef IN_SOURCE
#include "whatif.h"
/* Inlined wherever they are called: several places. */
static inline __attribute__((always_inline)) void span_begin(long id) {
  WHATIF_BEGIN("r");
  WHATIF_BEGIN_ID("keyed", id);
}
static inline __attribute__((always_inline)) void span_end(long id) {
  WHATIF_END_ID("keyed", id);
  WHATIF_END("r");
}
#elif defined(COZ)
#include <coz.h>
static void span_begin(long id) {
  COZ_BEGIN("r");
  (void)id;
}
static void span_end(long id) {
  (void)id;
  COZ_END("r");
}
#else
__attribute__((noinline, noclone)) void span_begin(long id) { __asm__ volatile("# begin" : : "r"(id)); }
#ifdef ALIKE
__attribute__((alias("span_begin"))) void span_end(long id);
#else
__attribute__((noinline, noclone)) void span_end(long id) { __asm__ volatile("# end" : : "r"(id)); }
#endif
#endif

static double end_at;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void rest(void) { nanosleep(&(struct timespec){0, 2000000}, NULL); }

static void *same(void *unused) {
  while (now() < end_at) {
    span_begin(1);
    rest();
    span_end(2);
  }
  return unused;
}

static void *nested(void *unused) {
  while (now() < end_at) {
    span_begin(1);
    span_begin(2);
    rest();
    span_end(2);
    span_end(1);
  }
  return unused;
}

/* For the number of requests, and their mean length by this program's own clock, which it prints. */
static long counted;
static double taken;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

static void *paced(void *unused) {
  while (now() < end_at) {
    double begun = now();
    span_begin(1);
    rest();
    span_end(1);
    double took = now() - begun;
    pthread_mutex_lock(&telling);
    taken += took;
    counted++;
    pthread_mutex_unlock(&telling);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return unused;
}

static int ends[2];

/* Ends requests that another thread has begun. */
static void *ending(void *unused) {
  long id;
  while (read(ends[0], &id, sizeof id) == sizeof id)
    span_end(id);
  return unused;
}

static void handed(long first) {
  pthread_t thread;
  if (pipe(ends))
    exit(1);
  pthread_create(&thread, NULL, ending, NULL);
  for (long id = first; now() < end_at; id++) {
    span_begin(id);
    rest();
    if (write(ends[1], &id, sizeof id) != sizeof id)
      exit(1);
  }
  close(ends[1]);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  end_at = now() + atof(argv[2]);
  if (!strcmp(argv[1], "handed")) {
    handed(0);
  } else if (!strcmp(argv[1], "forked")) { /* the same keys in two processes */
    pid_t child = fork();
    handed(7);
    if (child == 0)
      return 0;
    waitpid(child, NULL, 0);
  } else {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
      pthread_create(&threads[i], NULL, !strcmp(argv[1], "nested") ? nested : !strcmp(argv[1], "paced") ? paced : same, NULL);
    for (int i = 0; i < 3; i++)
      pthread_join(threads[i], NULL);
    if (counted)
      printf("requests %ld mean %.0f\n", counted, taken / counted * 1e9);
  }
  return 0;
}
