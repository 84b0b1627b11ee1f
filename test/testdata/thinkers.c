/*
 * Forty clients think for 15 ms, then ask one server, which takes 0.2 ms, and 0.6 ms more in one line. That is more
 * than it can answer, so it never waits for a question. A faster server is asked 40 times in 15 ms.
 */
#include "compute.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define CLIENTS 40

static int questions[2], answers[CLIENTS][2];

__attribute__((noinline)) void answered(void) { __asm__ volatile(""); }

static void *client(void *arg) {
  unsigned char who = (unsigned char)(long)arg;
  for (;;) {
    usleep(15000);
    if (write(questions[1], &who, 1) != 1 || read(answers[who][0], &who, 1) != 1)
      exit(1);
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  unsigned char who;
  if (pipe(questions))
    return 1;
  for (long i = 0; i < CLIENTS; i++)
    if (pipe(answers[i]) || pthread_create(&thread, 0, client, (void *)i))
      return 1;
  for (;;) {
    if (read(questions[0], &who, 1) != 1)
      return 1;
    COMPUTE(200000);
    COMPUTE(600000); /* WORK */
    answered();
    if (write(answers[who][1], &who, 1) != 1)
      return 1;
  }
}
