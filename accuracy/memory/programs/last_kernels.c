/*
 * last_kernels: eight more kernels, as kernels.c has them. They were written when the method had
 * been changed for those of more_kernels.c and was fixed again.
 */
#include "kernels.h"

/* Look-ups in a binary tree, the nodes of which are in no order. */
struct node {
  uint64_t key;
  struct node *less, *more;
};

__attribute__((noinline)) static uint64_t look_up(const struct node *root, uint64_t keys, uint64_t *seed, long times) {
  uint64_t found = 0;
  for (; times > 0; times--) {
    uint64_t key = next_random(seed) % keys;
    const struct node *at = root;
    while (at && at->key != key)
      at = key < at->key ? at->less : at->more;
    found += at != NULL;
  }
  return found;
}

static void run_tree(void) {
  long n = small() ? 8 << 10 : 1 << 20;
  struct node *nodes = filled(n * (long)sizeof *nodes), *root = NULL;
  uint64_t seed = 1;
  for (long i = 0; i < n; i++) {
    struct node **at = &root;
    nodes[i] = (struct node){scrambled((uint64_t)i) % (uint64_t)(2 * n), NULL, NULL};
    while (*at)
      at = nodes[i].key < (*at)->key ? &(*at)->less : &(*at)->more;
    *at = &nodes[i];
  }
  for (;; visit())
    kept = look_up(root, (uint64_t)(2 * n), &seed, 1000);
}

/* A sum of values at random places of a list. */
__attribute__((noinline)) static double gather(const double *values, const uint32_t *at, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += values[at[i]];
  return sum;
}

static void run_gather(void) {
  enum { PART = 16 << 10 };
  long n = small() ? PART : 8 << 20, part = 0;
  double *values = filled(n * 8);
  uint32_t *at = filled(n * 4);
  uint64_t seed = 1;
  for (long i = 0; i < n; i++)
    at[i] = (uint32_t)(next_random(&seed) % (uint64_t)n);
  for (;; visit())
    for (int i = 0; i < 8; i++, part = (part + PART) % n)
      kept = (uint64_t)gather(values, at + part, PART);
}

/* Random sets are united (union-find, with halved paths); now and then all are alone again. */
__attribute__((noinline)) static long unite(uint32_t *parent, uint64_t n, uint64_t *seed, long times) {
  long united = 0;
  for (; times > 0; times--) {
    uint32_t a = (uint32_t)(next_random(seed) % n), b = (uint32_t)(next_random(seed) % n);
    while (parent[a] != a)
      a = parent[a] = parent[parent[a]];
    while (parent[b] != b)
      b = parent[b] = parent[parent[b]];
    if (a != b)
      parent[a] = b, united++;
  }
  return united;
}

static void run_unite(void) {
  long n = small() ? 16 << 10 : 16 << 20;
  uint32_t *parent = filled(n * 4);
  uint64_t seed = 1;
  for (long done = n;; done += 10000, visit()) {
    if (done >= n / 2) {
      for (long i = 0; i < n; i++)
        parent[i] = (uint32_t)i;
      done = 0;
    }
    kept = (uint64_t)unite(parent, (uint64_t)n, &seed, 10000);
  }
}

/* Memory is copied by the library. */
__attribute__((noinline)) static void copy(char *to, const char *from, long n) {
  memcpy(to, from, (size_t)n);
  __asm__ volatile("" : : "r"(to) : "memory");
}

static void run_copy(void) {
  enum { PART = 256 << 10 };
  long n = small() ? PART : 64 << 20, at = 0;
  char *from = filled(n), *to = filled(n);
  for (;; visit())
    for (int i = 0; i < 8; i++, at = (at + PART) % n)
      copy(to + at, from + at, PART);
}

/* Base64 of some bytes. */
__attribute__((noinline)) static void base64(char *to, const unsigned char *from, long n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (; n >= 3; n -= 3, from += 3, to += 4) {
    uint32_t x = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
    to[0] = digits[x >> 18], to[1] = digits[x >> 12 & 63], to[2] = digits[x >> 6 & 63], to[3] = digits[x & 63];
  }
}

static void run_base64(void) {
  enum { PART = 192 << 10 };
  long n = small() ? PART : 48 << 20, at = 0;
  unsigned char *from = filled(n);
  char *to = filled(n / 3 * 4 + 4);
  for (;; visit(), at = (at + PART) % n)
    base64(to + at / 3 * 4, from + at, PART);
}

/* A filter of a signal, with 32 factors. */
enum { TAPS = 32 };
__attribute__((noinline)) static void filter(float *to, const float *from, const float *factors, long n) {
  for (long i = 0; i < n; i++) {
    float sum = 0;
    for (int k = 0; k < TAPS; k++)
      sum += factors[k] * from[i + k];
    to[i] = sum;
  }
}

static void run_filter(void) {
  enum { PART = 16 << 10 };
  long n = small() ? PART : 8 << 20, at = 0;
  float *from = filled((n + TAPS) * 4), *to = filled(n * 4), factors[TAPS];
  for (int i = 0; i < TAPS; i++)
    factors[i] = 1.0f / (float)(i + 1);
  for (;; visit(), at = (at + PART) % n)
    filter(to + at, from + at, factors, PART);
}

/* An automaton with 64 states reads a text, and counts how often it comes to the first one. */
static uint8_t automaton[64][256];

__attribute__((noinline)) static long match(const unsigned char *text, long n) {
  long found = 0;
  uint8_t state = 0;
  for (long i = 0; i < n; i++) {
    state = automaton[state][text[i]];
    found += state == 0;
  }
  return found;
}

static void run_match(void) {
  enum { PART = 256 << 10 };
  long n = small() ? PART : 64 << 20, at = 0;
  unsigned char *text = filled(n);
  uint64_t seed = 1;
  for (long i = 0; i < n; i++)
    text[i] = (unsigned char)('a' + next_random(&seed) % 26);
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 256; k++)
      automaton[i][k] = (uint8_t)(next_random(&seed) % 64);
  for (;; visit(), at = (at + PART) % n)
    kept = (uint64_t)match(text + at, PART);
}

/* Runs of equal bytes become a byte and their length. */
__attribute__((noinline)) static long pack(unsigned char *to, const unsigned char *from, long n) {
  unsigned char *start = to;
  for (const unsigned char *end = from + n; from < end;) {
    unsigned char byte = *from, length = 0;
    while (from < end && *from == byte && length < 255)
      from++, length++;
    *to++ = byte, *to++ = length;
  }
  return to - start;
}

static void run_pack(void) {
  enum { PART = 256 << 10 };
  long n = small() ? PART : 64 << 20, at = 0;
  unsigned char *from = filled(n), *to = filled(2 * PART);
  uint64_t seed = 1;
  for (long i = 0; i < n;)
    for (long run = 1 + (long)(next_random(&seed) % 8), byte = (long)(next_random(&seed) & 255); run > 0 && i < n;
         run--)
      from[i++] = (unsigned char)byte;
  for (;; visit(), at = (at + PART) % n)
    kept = (uint64_t)pack(to, from + at, PART);
}

int main(int argc, char **argv) {
  static const struct kernel all[] = {{"look_up", run_tree},  {"gather", run_gather}, {"unite", run_unite},
                                      {"copy", run_copy},     {"base64", run_base64}, {"filter", run_filter},
                                      {"match", run_match},   {"pack", run_pack}};
  return run_kernel(all, sizeof all / sizeof *all, argc, argv);
}
