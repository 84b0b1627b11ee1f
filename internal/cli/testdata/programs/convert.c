/* The README's batch program: it reads a file and computes with its bytes for about 0.1 s. */
#include <stdio.h>

static volatile unsigned long odd = 0x9e3779b97f4a7c15;

int main(int argc, char **argv) {
  FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!f)
    return 1;
  unsigned long x = (unsigned long)fgetc(f), by = odd;
  for (long n = 20000000; n > 0; n--)
    x = (((x * by ^ by) * by ^ by) * by ^ by) * by ^ by;
  return x == 42;
}
