/*
 * A bucket sort by MPI. Each rank makes keys and counts how many fall into each bucket (the target: how often it goes
 * through the keys for that). All ranks add up their counts, send each other the keys of their buckets, and sort those
 * by counting. A sort is a visit of rank 0.
 *
 *     mpirun -n 2 --bind-to none mpi_sort PERCENT SECONDS
 *
 * Rank 1 takes twice as long to make its keys, so rank 0 waits for it, spinning in the library's progress loop.
 */
#include "../ranks.h"

#define KEYS (1 << 15) /* of a rank */
#define BUCKETS 256
#define PASSES 80L

static uint32_t keys[KEYS], sorted[KEYS], *received;
/* The last number tells the ranks to end. */
static int histogram[BUCKETS + 1], everywhere[BUCKETS + 1];
static uint64_t random_state;

static void make_keys(int times) {
  while (times-- > 0)
    for (int i = 0; i < KEYS; i++) {
      random_state = random_state * 6364136223846793005u + 1442695040888963407u;
      keys[i] = (uint32_t)(random_state >> 32);
    }
}

static void count_keys(long passes) {
  while (passes-- > 0) {
    memset(histogram, 0, sizeof histogram);
    for (int i = 0; i < KEYS; i++) histogram[keys[i] >> 24]++; // TARGET
  }
}

/* Puts the keys in the order of their destination ranks, and counts how many go to each. */
static void divide(int *go, int *at) {
  int next[BUCKETS], begin = 0;
  memset(go, 0, (size_t)ranks * sizeof *go);
  memset(histogram, 0, sizeof histogram);
  for (int i = 0; i < KEYS; i++)
    histogram[keys[i] >> 24]++;
  for (int b = 0; b < BUCKETS; b++) {
    next[b] = begin;
    begin += histogram[b];
    go[b * ranks / BUCKETS] += histogram[b];
  }
  for (int i = 0; i < KEYS; i++)
    sorted[next[keys[i] >> 24]++] = keys[i];
  for (int r = 0, sum = 0; r < ranks; sum += go[r++])
    at[r] = sum;
}

static void exchange(void) {
  int go[ranks], at[ranks], come[ranks], from[ranks], sum = 0;
  divide(go, at);
  MPI_Alltoall(go, 1, MPI_INT, come, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; sum += come[r++])
    from[r] = sum;
  if (sum > 2 * KEYS)
    die("receiving keys");
  MPI_Alltoallv(sorted, go, at, MPI_UINT32_T, received, come, from, MPI_UINT32_T, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  ranks_init(argc, argv);
  received = malloc(2 * KEYS * sizeof *received);
  random_state = (uint64_t)rank + 1;
  do {
    make_keys(rank % 2 ? 40 : 20);
    count_keys(shrunk(PASSES));
    histogram[BUCKETS] = rank == 0 && over();
    MPI_Allreduce(histogram, everywhere, BUCKETS + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    exchange();
    if (rank == 0)
      sorted_once();
  } while (!everywhere[BUCKETS]);
  ranks_end();
}
