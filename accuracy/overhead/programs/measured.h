/*
 * measured.h: how the programs of the overhead command begin. They run at full speed from the start, but count
 * visits only after LEAD_IN: a profiler's start, when it reads the debug information of what it samples for the
 * first time, happens once and is no part of what it costs from then on.
 */
#ifndef MEASURED_H
#define MEASURED_H

#include "../../programs/bench.h"
#include <pthread.h>

#define LEAD_IN_NS 700000000L

static volatile int counting;

/* A visit that counts once the lead-in is over. */
static void measured_visit(void) {
  if (counting)
    visit();
}

static void start_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument))
    die("creating a thread");
}

/* Called by main when its threads run: they end the program. */
static void measure(void) {
  struct timespec lead_in = {0, LEAD_IN_NS};
  nanosleep(&lead_in, NULL);
  counting = 1;
  for (;;)
    pause();
}

#endif
