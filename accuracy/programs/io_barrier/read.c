/*
 * io_barrier with the reading as the target. Truth: what is read beyond the time of the computing; without LONG_READ
 * nothing.
 */
#include "io_barrier.h"

int main(int argc, char **argv) {
  bench_init(argc, argv);
  open_pages();
  start_other(computing, COMPUTES);
  for (;;) {
    for (long i = shrunk(READS); i > 0; i--)
      if (READ_PAGE() != sizeof page) // TARGET
        die("reading");
    pthread_barrier_wait(&both);
    visit();
  }
}
