/*
 * kernels: eight kernels with a known nature.
 *
 *     kernels CASE SMALL SECONDS    visits as programs of bench.h do
 *
 * With SMALL 0 the data are much larger than a core's own caches, with SMALL 100 they fit into
 * them. A visit does the same operations in both: what it takes longer with large data is the time
 * that waits for memory.
 */
#include "kernels.h"

/* STREAM's triad. */
__attribute__((noinline)) static void triad(double *a, const double *b, const double *c, long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 3 * c[i];
}

static void run_triad(void) {
  enum { PART = 8 << 10 };
  long n = small() ? PART : 4L << 20, at = 0;
  double *a = filled(n * 8), *b = filled(n * 8), *c = filled(n * 8);
  for (;; visit())
    for (int i = 0; i < 64; i++, at = (at + PART) % n)
      triad(a + at, b + at, c + at, PART);
}

/* Each load needs the one before. */
__attribute__((noinline)) static long chase(const long *next, long at, long n) {
  for (; n > 0; n--)
    at = next[at];
  return at;
}

static void run_chase(void) {
  long lines = (small() ? 256 << 10 : 64 << 20) / 64, at = 0;
  long *next = cycle(lines);
  for (;; visit())
    kept = (uint64_t)(at = chase(next, at, 20000));
}

/* A row of the product of two matrices: the second one is read by columns. */
__attribute__((noinline)) static void multiply_plain(double *c, const double *a, const double *b, long n,
                                                     long columns) {
  for (long j = 0; j < columns; j++) {
    double sum = 0;
    for (long k = 0; k < n; k++)
      sum += a[k] * b[k * n + j];
    c[j] = sum;
  }
}

static void run_multiply_plain(void) {
  long n = small() ? 128 : 2048, row = 0, column = 0;
  double *a = filled(n * n * 8), *b = filled(n * n * 8), *c = filled(n * n * 8);
  for (;; visit())
    for (long left = 1 << 20; left > 0; left -= 16 * n) {
      multiply_plain(c + row * n + column, a + row * n, b + column, n, 16);
      if ((column += 16) == n)
        column = 0, row = (row + 1) % n;
    }
}

/* The product of two blocks, which stay in the caches while it is computed. */
enum { BLOCK = 64 };
__attribute__((noinline)) static void multiply_block(double *c, const double *a, const double *b, long n) {
  for (long i = 0; i < BLOCK; i++)
    for (long k = 0; k < BLOCK; k++)
      for (long j = 0; j < BLOCK; j++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void run_multiply_blocked(void) {
  long n = small() ? 128 : 2048 + 8 * 8, blocks = n / BLOCK, at = 0;
  double *a = filled(n * n * 8), *b = filled(n * n * 8), *c = filled(n * n * 8);
  for (;; visit())
    for (int times = 0; times < 8; times++, at = (at + 1) % (blocks * blocks * blocks)) {
      long i = at / blocks / blocks * BLOCK, j = at / blocks % blocks * BLOCK, k = at % blocks * BLOCK;
      multiply_block(c + i * n + j, a + i * n + k, b + k * n + j, n);
    }
}

/* The second half of a hash join: keys are looked up in a table of lists. */
struct entry {
  uint64_t key, value;
  struct entry *next;
};

__attribute__((noinline)) static uint64_t join(struct entry **table, uint64_t mask, uint64_t *seed, long n) {
  uint64_t sum = 0;
  for (; n > 0; n--) {
    uint64_t key = next_random(seed) & mask;
    for (struct entry *e = table[scrambled(key) & mask]; e; e = e->next)
      if (e->key == key) {
        sum += e->value;
        break;
      }
  }
  return sum;
}

static void run_join(void) {
  long n = small() ? 8 << 10 : 1 << 20;
  struct entry **table = filled(n * 8), *entries = filled(n * (long)sizeof *entries);
  memset(table, 0, (size_t)n * 8);
  for (long i = 0; i < n; i++) {
    struct entry **list = &table[scrambled((uint64_t)i) & (uint64_t)(n - 1)];
    entries[i] = (struct entry){(uint64_t)i, (uint64_t)i * 7, *list};
    *list = &entries[i];
  }
  uint64_t seed = 1;
  for (;; visit())
    kept += join(table, (uint64_t)(n - 1), &seed, 20000);
}

/* Two sorted runs become one: the inner loop of a merge sort. */
__attribute__((noinline)) static void merge(uint32_t *to, const uint32_t *a, const uint32_t *b, long n) {
  const uint32_t *a_end = a + n, *b_end = b + n;
  while (a < a_end && b < b_end) {
    if (*a <= *b)
      *to++ = *a++;
    else
      *to++ = *b++;
  }
  while (a < a_end)
    *to++ = *a++;
  while (b < b_end)
    *to++ = *b++;
}

static void run_sort(void) {
  long n = small() ? 128 << 10 : 8 << 20, merged = 0;
  uint32_t *from = filled(n * 4), *to = filled(n * 4);
  uint64_t seed = 1;
  for (;;) {
    for (long i = 0; i < n; i++)
      from[i] = (uint32_t)next_random(&seed);
    for (long run = 1; run < n; run *= 2) {
      for (long i = 0; i < n; i += 2 * run) {
        merge(to + i, from + i, from + i + run, run);
        if ((merged += 2 * run) >= 200000)
          for (; merged >= 200000; merged -= 200000)
            visit();
      }
      uint32_t *other = from;
      from = to, to = other;
    }
  }
}

/* The compression function of SHA-256. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int by) { return x >> by | x << (32 - by); }

__attribute__((noinline)) static void sha256(uint32_t state[8], const unsigned char *data, long blocks) {
  uint32_t w[64];
  for (; blocks > 0; blocks--, data += 64) {
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 | (uint32_t)data[4 * i + 2] << 8 |
             data[4 * i + 3];
    for (int i = 16; i < 64; i++) {
      uint32_t p = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
      uint32_t q = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + p + w[i - 7] + q;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
      uint32_t x = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
      uint32_t y = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + x, d = c, c = b, b = a, a = x + y;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

static void run_sha(void) {
  long n = small() ? 256 << 10 : 64 << 20, at = 0;
  unsigned char *data = filled(n);
  uint32_t state[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (;; visit(), at = (at + (256 << 10)) % n)
    sha256(state, data + at, (256 << 10) / 64);
}

/* Lines of numbers with commas between them, added up. */
__attribute__((noinline)) static long parse(const char *text, long n) {
  long sum = 0, number = 0, sign = 1, lines = 0;
  for (const char *end = text + n; text < end; text++)
    switch (*text) {
    case '-':
      sign = -1;
      break;
    case '\n':
      lines++; /* fall through */
    case ',':
      sum += sign * number;
      number = 0, sign = 1;
      break;
    default:
      number = number * 10 + *text - '0';
    }
  return sum + lines;
}

static void run_parse(void) {
  enum { PART = 512 << 10 };
  long n = small() ? PART : 32 << 20;
  char *text = filled(n + 64);
  uint64_t seed = 1;
  for (long i = 0; i < n;)
    i += snprintf(text + i, 64, "%ld%c", (long)(next_random(&seed) % 20000000) - 4000000, i % 8 ? ',' : '\n');
  for (long at = 0;; at = (at + PART) % n, visit())
    kept += (uint64_t)parse(text + at, PART);
}

int main(int argc, char **argv) {
  static const struct kernel all[] = {{"triad", run_triad},
                                      {"chase", run_chase},
                                      {"multiply_plain", run_multiply_plain},
                                      {"multiply_block", run_multiply_blocked},
                                      {"join", run_join},
                                      {"merge", run_sort},
                                      {"sha256", run_sha},
                                      {"parse", run_parse}};
  return run_kernel(all, sizeof all / sizeof *all, argc, argv);
}
