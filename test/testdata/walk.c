/* walk: a walk through memory that no cache of a core holds, and computing in registers, in turns. */
#include <stdint.h>
#include <stdlib.h>

enum { LINES = 1 << 19, WORDS = 8 };

__attribute__((noinline)) void visited(void) { __asm__ volatile(""); }

__attribute__((noinline)) static long walk(const long *next, long at, long n) {
  for (; n > 0; n--)
    at = next[at];
  return at;
}

__attribute__((noinline)) static uint64_t compute(uint64_t x, long n) {
  for (; n > 0; n--)
    x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

int main(int argc, char **argv) {
  long *next = calloc((size_t)LINES * WORDS, sizeof *next), *order = calloc(LINES, sizeof *order), at = 0;
  uint64_t x = 1;
  if (argc < 2 || !next || !order)
    return 1;
  for (long i = 0; i < LINES; i++)
    order[i] = i;
  for (long i = LINES - 1; i > 0; i--) {
    long j = (long)((x = compute(x, 1)) >> 33) % i, other = order[i];
    order[i] = order[j], order[j] = other;
  }
  for (long i = 0; i < LINES; i++)
    next[i * WORDS] = order[i] * WORDS;
  for (long turns = atol(argv[1]); turns > 0; turns--, visited()) {
    at = walk(next, at, 20000);
    x = compute(x, 1000000);
  }
  __asm__ volatile("" : : "r"(at), "r"(x));
  return 0;
}
