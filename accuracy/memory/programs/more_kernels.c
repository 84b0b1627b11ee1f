/*
 * more_kernels: eight more kernels, as kernels.c has them. They were written when the method by
 * which whatif tells time that waits for memory was fixed.
 */
#include "kernels.h"

/* Binary search in a sorted array. */
__attribute__((noinline)) static long search(const uint64_t *sorted, long n, uint64_t *seed, long times) {
  long sum = 0;
  for (; times > 0; times--) {
    uint64_t key = next_random(seed) % (uint64_t)(n * 3);
    long low = 0, high = n;
    while (low < high) {
      long middle = (low + high) / 2;
      if (sorted[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    sum += low;
  }
  return sum;
}

static void run_search(void) {
  long n = small() ? 16 << 10 : 16 << 20;
  uint64_t *sorted = filled(n * 8), seed = 1;
  for (long i = 0; i < n; i++)
    sorted[i] = (uint64_t)i * 3;
  for (;; visit())
    kept = (uint64_t)search(sorted, n, &seed, 5000);
}

/* Counts of random keys: loads and stores at places that nobody can foresee. */
__attribute__((noinline)) static void histogram(uint32_t *counts, uint64_t mask, uint64_t *seed, long n) {
  uint64_t x = *seed;
  for (; n > 0; n--) {
    x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    counts[x >> 33 & mask]++;
  }
  *seed = x;
}

static void run_histogram(void) {
  long n = small() ? 16 << 10 : 16 << 20;
  uint32_t *counts = filled(n * 4);
  uint64_t seed = 1;
  for (;; visit())
    histogram(counts, (uint64_t)(n - 1), &seed, 100000);
}

/* A sparse matrix by a vector, eight random columns in each row. */
__attribute__((noinline)) static void sparse(double *y, const double *x, const uint32_t *column, const double *value,
                                             long rows) {
  for (long i = 0; i < rows; i++) {
    double sum = 0;
    for (long k = 0; k < 8; k++)
      sum += value[8 * i + k] * x[column[8 * i + k]];
    y[i] = sum;
  }
}

static void run_sparse(void) {
  enum { ROWS = 4 << 10 };
  long n = small() ? ROWS : 4 << 20, at = 0;
  double *x = filled(n * 8), *y = filled(n * 8), *value = filled(n * 8 * 8);
  uint32_t *column = filled(n * 8 * 4);
  uint64_t seed = 1;
  for (long i = 0; i < n * 8; i++)
    column[i] = (uint32_t)(next_random(&seed) % (uint64_t)n);
  for (;; visit())
    for (int i = 0; i < 4; i++, at = (at + ROWS) % n)
      sparse(y + at, x, column + at * 8, value + at * 8, ROWS);
}

/* A matrix and its transposed one, by rows of the first. */
__attribute__((noinline)) static void transpose(double *to, const double *from, long n, long row, long rows) {
  for (long i = row; i < row + rows; i++)
    for (long j = 0; j < n; j++)
      to[j * n + i] = from[i * n + j];
}

static void run_transpose(void) {
  long n = small() ? 256 : 4096, row = 0;
  double *from = filled(n * n * 8), *to = filled(n * n * 8);
  for (;; visit())
    for (long left = 256 << 10; left > 0; left -= n, row = (row + 1) % n)
      transpose(to, from, n, row, 1);
}

/* Bodies that attract each other: all pairs. */
struct body {
  double x, y, z, vx, vy, vz, mass;
};

__attribute__((noinline)) static void attract(struct body *one, const struct body *all, long n) {
  for (long j = 0; j < n; j++) {
    double x = all[j].x - one->x, y = all[j].y - one->y, z = all[j].z - one->z;
    double square = x * x + y * y + z * z + 0.01, pull = all[j].mass / (square * __builtin_sqrt(square));
    one->vx += x * pull, one->vy += y * pull, one->vz += z * pull;
  }
}

static void run_bodies(void) {
  enum { PART = 1000 };
  long n = small() ? 10 * PART : 500 * PART, at = 0;
  struct body *all = filled(n * (long)sizeof *all), one = {0, 0, 0, 0, 0, 0, 1};
  uint64_t seed = 1;
  for (long i = 0; i < n; i++)
    all[i] = (struct body){(double)(next_random(&seed) & 1023), (double)(i & 1023), 1, 0, 0, 0, 2};
  for (;; visit())
    for (int i = 0; i < 50; i++, at = (at + PART) % n)
      attract(&one, all + at, PART);
}

/* A checksum by a table: CRC-32, byte by byte. */
static uint32_t crc_table[256];

__attribute__((noinline)) static uint32_t checksum(uint32_t crc, const unsigned char *data, long n) {
  for (; n > 0; n--)
    crc = crc >> 8 ^ crc_table[(crc ^ *data++) & 255];
  return crc;
}

static void run_checksum(void) {
  enum { PART = 256 << 10 };
  long n = small() ? PART : 64 << 20, at = 0;
  unsigned char *data = filled(n);
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t x = i;
    for (int k = 0; k < 8; k++)
      x = x & 1 ? x >> 1 ^ 0xedb88320u : x >> 1;
    crc_table[i] = x;
  }
  for (;; visit(), at = (at + PART) % n)
    kept = checksum((uint32_t)kept, data + at, PART);
}

/* How much two strings differ (Levenshtein), with one row of the table. */
__attribute__((noinline)) static long distance(const char *a, const char *b, int *row, long n) {
  for (long j = 0; j <= n; j++)
    row[j] = (int)j;
  for (long i = 0; i < n; i++) {
    int corner = row[0];
    row[0] = (int)i + 1;
    for (long j = 0; j < n; j++) {
      int change = corner + (a[i] != b[j]), best = row[j + 1] < row[j] ? row[j + 1] + 1 : row[j] + 1;
      corner = row[j + 1];
      row[j + 1] = change < best ? change : best;
    }
  }
  return row[n];
}

static void run_distance(void) {
  enum { N = 512 };
  long n = small() ? 256 << 10 : 64 << 20, at = 0;
  char *text = filled(n);
  uint64_t seed = 1;
  int row[N + 1];
  for (long i = 0; i < n; i++)
    text[i] = (char)('a' + next_random(&seed) % 8);
  for (;; visit())
    for (int i = 0; i < 4; i++, at = (at + 2 * N) % n)
      kept = (uint64_t)distance(text + at, text + at + N, row, N);
}

/* Points of the Mandelbrot set, written to a picture. */
__attribute__((noinline)) static void mandelbrot(unsigned char *picture, long from, long n, long wide) {
  for (long i = from; i < from + n; i++) {
    double cx = 3.0 * (double)(i % wide) / (double)wide - 2, cy = 2.0 * (double)(i / wide % wide) / (double)wide - 1;
    double x = 0, y = 0;
    int k = 0;
    for (; k < 100 && x * x + y * y < 4; k++) {
      double next = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = next;
    }
    picture[i] = (unsigned char)k;
  }
}

static void run_mandelbrot(void) {
  enum { PART = 8 << 10, WIDE = 512 };
  long n = small() ? 256 << 10 : 64 << 20, at = 0;
  unsigned char *picture = filled(n);
  for (;; visit(), at = (at + PART) % n)
    mandelbrot(picture, at, PART, WIDE);
}

int main(int argc, char **argv) {
  static const struct kernel all[] = {{"search", run_search},       {"histogram", run_histogram},
                                      {"sparse", run_sparse},       {"transpose", run_transpose},
                                      {"attract", run_bodies},      {"checksum", run_checksum},
                                      {"distance", run_distance},   {"mandelbrot", run_mandelbrot}};
  return run_kernel(all, sizeof all / sizeof *all, argc, argv);
}
