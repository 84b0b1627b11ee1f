/*
 * Visits of a progress point in the source: about a million a second and thread, or without a pause.
 *
 *     million THREADS SECONDS without|with|tight     prints "visits N seconds T", N the rounds of all threads
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../../whatif.h"

enum { MOST = 64, BATCH = 1000 };

static double end;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

/* The same code for both: compiled into each loop it would be aligned in two ways. */
__attribute__((noinline, noclone)) static void work(unsigned long *x) {
  for (int k = 0; k < 700; k++)
    *x = *x * 0x9e3779b97f4a7c15 + k;
  __asm__ volatile("" : "+r"(*x));
}

static void *without(void *rounds) {
  unsigned long x = 1, n = 0;
  for (; now() < end; n += BATCH)
    for (int i = 0; i < BATCH; i++)
      work(&x);
  *(unsigned long *)rounds = n;
  return NULL;
}

static void *with(void *rounds) {
  unsigned long x = 1, n = 0;
  for (; now() < end; n += BATCH)
    for (int i = 0; i < BATCH; i++) {
      work(&x);
      WHATIF_PROGRESS("rounds");
    }
  *(unsigned long *)rounds = n;
  return NULL;
}

static void *tight(void *rounds) {
  unsigned long n = 0;
  for (; now() < end; n += BATCH)
    for (int i = 0; i < BATCH; i++)
      WHATIF_PROGRESS("tight");
  *(unsigned long *)rounds = n;
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[MOST];
  unsigned long rounds[MOST] = {0}, all = 0;
  int n = argc == 4 ? atoi(argv[1]) : 0;
  double seconds = argc == 4 ? atof(argv[2]) : 0, begin = now();
  if (n < 1 || n > MOST || seconds <= 0)
    return 2;
  void *(*run)(void *) = !strcmp(argv[3], "with") ? with : !strcmp(argv[3], "tight") ? tight : without;
  end = begin + seconds;
  for (int i = 0; i < n; i++)
    if (pthread_create(&threads[i], NULL, run, &rounds[i]))
      return 1;
  for (int i = 0; i < n; i++) {
    pthread_join(threads[i], NULL);
    all += rounds[i];
  }
  printf("visits %lu seconds %.6f\n", all, now() - begin);
  return 0;
}
