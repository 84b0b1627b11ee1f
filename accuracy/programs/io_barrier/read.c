/*
 * io_barrier, its reading. Truth: what is read beyond the time of the computing; without LONG_READ nothing.
 */
#include "io_barrier.h"

static void *other(void *none) {
  (void)none;
  for (;;) {
    WORK(COMPUTES * US);
    pthread_barrier_wait(&both);
  }
  return NULL;
}

int main(int argc, char **argv) {
  meet_other(argc, argv);
  for (;;) {
    for (long i = shrunk(READS); i > 0; i--)
      if (READ_PAGE() != sizeof page) // TARGET
        die("reading");
    pthread_barrier_wait(&both);
    visit();
  }
}
