/* Functions whose frames have different shapes. */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

KEEP int leaf(int x) { return x * 3 + sink; }

KEEP int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  int r = 0;
  for (int i = leaf(a); i < leaf(b); i++)
    r += leaf(c) * leaf(d) + leaf(e) * leaf(f) + leaf(g) * leaf(h) + i;
  return r;
}

KEEP int sized(int n) {
  char *p = alloca(n);
  memset(p, n, n);
  sink = p[n / 2];
  return leaf(n);
}

KEEP int aligned(int n) {
  _Alignas(64) char buffer[256];
  memset(buffer, n, sizeof buffer);
  sink = buffer[n & 255];
  return leaf(n) + leaf(sink);
}

/* Needs both: gcc keeps the address of the arguments in another register. */
KEEP int aligned_and_sized(int n, int a, int b, int c, int d, int e, int f, int g) {
  _Alignas(64) char buffer[128];
  char *p = alloca(n);
  memset(buffer, n, sizeof buffer);
  memset(p, g, n);
  sink = buffer[n & 127] + p[0] + a + b + c + d + e;
  return leaf(n) + leaf(f) + leaf(g);
}

KEEP int large(int n) {
  char buffer[100000];
  memset(buffer, n, sizeof buffer);
  sink = buffer[n];
  return leaf(n);
}

KEEP int variadic(int n, ...) {
  va_list list;
  int sum = 0;
  va_start(list, n);
  while (n-- > 0)
    sum += leaf(va_arg(list, int));
  va_end(list);
  return sum;
}

KEEP int early(int n) {
  if (n < 0)
    return leaf(n) + 1;
  if (n > 100)
    abort();
  return many(n, 1, 2, 3, 4, 5, 6, 7) + early(n - 50);
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(int argc, char **argv) {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof *numbers, compare);
  printf("%d %s\n", sized(argc + 10) + aligned(argc) + large(argc) + variadic(3, 1, 2, 3) + early(argc) +
         aligned_and_sized(argc, 1, 2, 3, 4, 5, 6, 7), argv[0]);
  return 0;
}
