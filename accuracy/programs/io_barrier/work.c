/*
 * io_barrier with the computing as the target. Truth: what is computed beyond the time of the reading; with LONG_READ
 * nothing.
 */
#include "io_barrier.h"

static void *reading(void *none) {
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
  bench_init(argc, argv);
  open_pages();
  start_other(reading, 0);
  for (;;) {
    WORK(shrunk(COMPUTES * US)); // TARGET
    pthread_barrier_wait(&both);
    visit();
  }
}
