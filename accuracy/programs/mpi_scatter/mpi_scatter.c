/*
 * An integer sort by MPI, like IS of the NAS benchmarks, with keys far beyond the caches. Each rank counts how many of its
 * keys fall into each of 1024 buckets, all add up their counts, each scatters its keys into its buckets (the target: how
 * many it scatters, twice as many as there are), all exchange their buckets, and each ranks the keys that it gets. The keys
 * are the same each time, so buckets are right however few are scattered again. A sort is a visit of rank 0.
 *
 *     mpirun -n 2 --bind-to none mpi_scatter PERCENT SECONDS
 */
#include "../ranks.h"

#define KEYS (1 << 22) /* of a rank */
#define BUCKETS 1024
#define KEY_BITS 19
#define SHIFT (KEY_BITS - 10)

static uint32_t *keys, *buckets, *received;
static int *ranking;
static int sizes[BUCKETS];
/* The last number tells the ranks to end. */
static int counts[BUCKETS + 1], everywhere[BUCKETS + 1];

static void make_keys(void) {
  uint64_t state = (uint64_t)rank + 1;
  for (int i = 0; i < KEYS; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    keys[i] = (uint32_t)(state >> (64 - KEY_BITS));
  }
}

static void count_keys(void) {
  memset(counts, 0, sizeof counts);
  for (int i = 0; i < KEYS; i++)
    counts[keys[i] >> SHIFT]++;
  memcpy(sizes, counts, sizeof sizes);
}

/* Scatters the first keys, and goes through all of them again where there are to be more. */
static void scatter(long how_many) {
  int next[BUCKETS];
  while (how_many > 0) {
    long some = how_many < KEYS ? how_many : KEYS;
    for (int b = 0, begin = 0; b < BUCKETS; begin += sizes[b++])
      next[b] = begin;
    for (long i = 0; i < some; i++) buckets[next[keys[i] >> SHIFT]++] = keys[i]; // TARGET
    how_many -= some;
  }
}

/* Sends each rank its buckets. Returns how many keys have come. */
static int exchange(void) {
  int go[ranks], at[ranks], come[ranks], from[ranks], sum = 0;
  memset(go, 0, sizeof go);
  for (int b = 0; b < BUCKETS; b++)
    go[b * ranks / BUCKETS] += sizes[b];
  for (int r = 0, begin = 0; r < ranks; begin += go[r++])
    at[r] = begin;
  MPI_Alltoall(go, 1, MPI_INT, come, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; sum += come[r++])
    from[r] = sum;
  if (sum > 2 * KEYS)
    die("receiving keys");
  MPI_Alltoallv(buckets, go, at, MPI_UINT32_T, received, come, from, MPI_UINT32_T, MPI_COMM_WORLD);
  return sum;
}

/* How many keys are at most as large as each. */
static void rank_keys(int n) {
  memset(ranking, 0, sizeof *ranking << KEY_BITS);
  for (int i = 0; i < n; i++)
    ranking[received[i]]++;
  for (int k = 1; k < 1 << KEY_BITS; k++)
    ranking[k] += ranking[k - 1];
}

static void *numbers(size_t n) {
  void *memory = malloc(n * sizeof(uint32_t));
  if (!memory)
    die("allocating keys");
  return memory;
}

int main(int argc, char **argv) {
  ranks_init(argc, argv);
  keys = numbers(KEYS);
  buckets = numbers(KEYS);
  received = numbers(2 * KEYS);
  ranking = numbers(1 << KEY_BITS);
  make_keys();
  count_keys();
  scatter(KEYS);
  do {
    count_keys();
    counts[BUCKETS] = rank == 0 && over();
    MPI_Allreduce(counts, everywhere, BUCKETS + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    scatter(shrunk(2L * KEYS));
    rank_keys(exchange());
    if (rank == 0)
      sorted_once();
  } while (!everywhere[BUCKETS]);
  ranks_end();
}
