/* meeting.h: two threads wait for each other at a barrier once a round. */
#ifndef MEETING_H
#define MEETING_H

#include "bench.h"
#include <pthread.h>

static pthread_barrier_t both;

/* A thread that computes for so many microseconds a round. */
__attribute__((unused)) static void *computing(void *us) {
  for (;;) {
    WORK((intptr_t)us * US);
    pthread_barrier_wait(&both);
  }
  return NULL;
}

/* Starts the other thread. */
static void start_other(void *(*other)(void *), intptr_t argument) {
  pthread_t thread;

  pthread_barrier_init(&both, NULL, 2);
  if (pthread_create(&thread, NULL, other, (void *)argument))
    die("starting a thread");
}

#endif
