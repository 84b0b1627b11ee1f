/*
 * One thread sorts (the target: the C library's qsort, in code without frame pointers), then computes about as long.
 * The comparing is the library's, too: strcmp is called back three deep, and is still the target's time.
 *
 * Truth: the target's share of s: measured.
 */
#include "../bench.h"

#define WORDS 60
#define LENGTH 16

static char words[WORDS][LENGTH], sorted[WORDS][LENGTH];

typedef int compare(const void *, const void *);

/* A macro, as WORK, so that all of it is on the line that uses it. */
#define SORT()                                                                                                         \
  do {                                                                                                                 \
    memcpy(sorted, words, sizeof words);                                                                               \
    qsort(sorted, WORDS, LENGTH, (compare *)strcmp);                                                                   \
  } while (0)

int main(int argc, char **argv) {
  bench_init(argc, argv);
  uint64_t x = 1;
  for (int i = 0; i < WORDS; i++)
    for (int k = 0; k < LENGTH - 1; k++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      words[i][k] = (char)('a' + (x >> 33) % 26);
    }
  for (;;) {
    for (long i = shrunk(600); i > 0; i--) SORT(); // TARGET
    WORK(1000 * US);
    visit();
  }
}
