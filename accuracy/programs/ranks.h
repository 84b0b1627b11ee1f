/* What the programs of several MPI ranks have in common: they end when all of their ranks do. */
#include "bench.h"
#include <mpi.h>

static int ranks, rank;
static int64_t last; /* visit */

static double seconds(void) { return (double)(last - bench.started) / 1e9; }

static int over(void) { return bench.started && seconds() >= bench.seconds; }

/* As visit in bench.h, but does not end the program. */
static void sorted_once(void) {
  progress_done();
  last = monotonic_ns();
  if (bench.started)
    bench.visits++;
  else
    bench.started = last;
}

static void ranks_init(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bench_init(argc, argv);
  pin(rank % 2);
}

static void ranks_end(void) {
  MPI_Finalize();
  if (rank == 0)
    printf("visits %ld seconds %.6f\n", bench.visits, seconds());
}
