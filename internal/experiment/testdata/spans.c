/* Requests that take 2 ms or more of the clock: spans HOW SECONDS. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline, noclone)) void span_begin(long id) { __asm__ volatile("# begin" : : "r"(id)); }
#ifdef ALIKE
__attribute__((alias("span_begin"))) void span_end(long id);
#else
__attribute__((noinline, noclone)) void span_end(long id) { __asm__ volatile("# end" : : "r"(id)); }
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

static int ends[2];

/* What another thread has begun. */
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
      pthread_create(&threads[i], NULL, strcmp(argv[1], "nested") ? same : nested, NULL);
    for (int i = 0; i < 3; i++)
      pthread_join(threads[i], NULL);
  }
  return 0;
}
