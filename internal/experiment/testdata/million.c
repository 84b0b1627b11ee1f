/*
 * About a million rounds a second in each of N threads; with IN_SOURCE each visits a progress
 * point in the source. Prints the rounds of all threads in a second, over S seconds.
 *
 *     million N S
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef IN_SOURCE
#include "whatif.h"
#endif

static double end;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void *run(void *rounds) {
  unsigned long x = 1, n = 0;
  while (now() < end)
    for (int i = 0; i < 1000; i++, n++) {
      for (int k = 0; k < 250; k++)
        x = x * 0x9e3779b97f4a7c15 + k;
      __asm__ volatile("" : "+r"(x));
#ifdef IN_SOURCE
      WHATIF_PROGRESS("rounds");
#endif
    }
  *(unsigned long *)rounds = n;
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[64];
  unsigned long rounds[64] = {0}, all = 0;
  int n = argc == 3 ? atoi(argv[1]) : 0;
  double seconds = argc == 3 ? atof(argv[2]) : 0;
  if (n < 1 || n > 64 || seconds <= 0)
    return 2;
  end = now() + seconds;
  for (int i = 0; i < n; i++)
    if (pthread_create(&threads[i], NULL, run, &rounds[i]))
      return 1;
  for (int i = 0; i < n; i++) {
    pthread_join(threads[i], NULL);
    all += rounds[i];
  }
  printf("rounds %.0f\n", all / seconds);
  return 0;
}
