/*
 * io_barrier, its computing. Truth: what is computed beyond the time of the reading; with LONG_READ nothing.
 */
#include "io_barrier.h"

static void *other(void *none) {
  (void)none;
  for (;;) {
    for (long i = READS; i > 0; i--)
      if (READ_PAGE() != sizeof page)
        die("reading");
    pthread_barrier_wait(&both);
  }
  return NULL;
}

int main(int argc, char **argv) {
  meet_other(argc, argv);
  for (;;) {
    WORK(shrunk(COMPUTES * US)); // TARGET
    pthread_barrier_wait(&both);
    visit();
  }
}
