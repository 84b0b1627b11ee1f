/*
 * Rounds of a little work, in each of which a point of every kind is visited once.
 *
 *     visits SECONDS     prints "visits N seconds T round NS", NS the median time of a round
 *
 * The median is over batches of rounds, so that moments in which something else ran do not count.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "../../../whatif.h"

enum { BATCH = 500, MOST = 1 << 16 };

/* Functions begin differently: with an instruction that the kernel emulates under a probe, or not. */
void plain(void);
void stepped(void);
#if defined(__x86_64__)
__asm__(".text\n.globl plain\n.type plain, @function\nplain: nop\n ret\n.size plain, .-plain\n"
        ".globl stepped\n.type stepped, @function\nstepped: movl %eax, %eax\n ret\n.size stepped, .-stepped\n");
#else
__attribute__((noinline)) void plain(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void stepped(void) { __asm__ volatile("ldr x0, =0" ::: "x0"); }
#endif

/* With a static probe, such as sys/sdt.h makes. */
__attribute__((noinline)) static void passed(void) {
  __asm__ volatile("1: nop\n"
                   ".pushsection .note.stapsdt, \"\", \"note\"\n"
                   ".balign 4\n"
                   ".4byte 8, 3f - 2f, 3\n"
                   ".asciz \"stapsdt\"\n"
                   "2: .8byte 1b, base, 0\n"
                   ".asciz \"visits\"\n"
                   ".asciz \"round\"\n"
                   ".asciz \"\"\n"
                   "3: .balign 4\n"
                   ".popsection\n"
                   ".pushsection .stapsdt.base, \"a\", \"progbits\"\n"
                   "base: .space 1\n"
                   ".popsection\n");
}

static void round_of_all(void) {
  uint64_t x = 1;
  for (int i = 0; i < 200; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  plain();
  stepped();
  passed(); /* LINE */
  WHATIF_PROGRESS("visited");
  syscall(SYS_getppid);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  static double each[MOST];
  if (argc != 2)
    return 2;
  double begin = now(), end = begin, seconds = atof(argv[1]);
  int n = 0;
  for (; n < MOST && end - begin < seconds; n++) {
    double from = end;
    for (int i = 0; i < BATCH; i++)
      round_of_all();
    end = now();
    each[n] = (end - from) / BATCH * 1e9;
  }
  qsort(each, n, sizeof *each, ascending);
  printf("visits %d seconds %.6f round %.2f\n", n * BATCH, end - begin, each[n / 2]);
  return 0;
}
