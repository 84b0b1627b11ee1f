/*
 * Statements of all shapes. Next to each place that is marked with a name, a line of its own counts the
 * executions of that place.
 *
 *     places N     prints "NAME COUNT" for each place
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

static volatile struct {
  long body, plain, header, inlined, taken, chosen, either, early, split, tail, recursive, loop, both, last, macro;
} own;

static volatile long sink;

NOINLINE long work(long x) {
  __asm__ volatile("" : "+r"(x));
  return x * 3 + 1;
}

NOINLINE long other(long x) {
  __asm__ volatile("" : "+r"(x));
  return x ^ 5;
}

/* A loop's body, with a call. */
NOINLINE static long body(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    own.body++;
    sum += v[i & 15] * work(i + sum); // body
  }
  return sum;
}

/* A loop's body without a call: compilers unroll it. */
NOINLINE static long plain(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    own.plain++;
    sum = (sum ^ v[i & 15]) * 7; // plain
  }
  return sum;
}

/* A loop's head: once for each loop. */
NOINLINE static long header(long n) {
  long sum = 0;
  own.header++;
  for (long i = 0; i < n; i += 3) // header
    sum += work(i);
  return sum;
}

/* Inlined into three places, one of them a loop. */
INLINE long inlined(long x) {
  own.inlined++;
  sink = work(x) + 1; // inlined
  return sink * 2;
}

NOINLINE static long calls_inlined(long n) {
  long sum = inlined(n);
  for (long i = 0; i < 5; i++)
    sum += inlined(i);
  if (n & 1)
    sum += inlined(sum);
  return sum;
}

/* Not always executed. */
NOINLINE static long taken(long x) {
  if (x % 3 == 0) {
    own.taken++;
    x = work(x); // taken
  }
  return x + 1;
}

/* One of many. */
NOINLINE static long chosen(long x) {
  switch (x % 7) {
  case 0:
    return other(x);
  case 1:
    x += 8;
    break;
  case 2:
    own.chosen++;
    x = work(x) + 2; // chosen
    break;
  case 3:
    x = other(x) - 1;
    break;
  case 4:
    x = work(other(x));
    break;
  case 5:
    return 77;
  default:
    x++;
  }
  return work(x);
}

/* One statement with branches of its own. */
NOINLINE static long either(long x) {
  own.either++;
  long y = x % 2 ? work(x) : other(x) + work(1); // either
  return y + 1;
}

NOINLINE static long early(long x) {
  if (x % 5 == 0) {
    own.early++;
    return other(x); // early
  }
  return work(x);
}

/* One statement, several lines, in pieces. */
NOINLINE static long split(long x) {
  own.split++;
  long y = work( // split
               other(x) +
               work(x)) +
           other(x);
  return y;
}

NOINLINE static long tail(long x) {
  own.tail++;
  return work(x); // tail
}

NOINLINE static long recursive(long n) {
  if (n == 0)
    return 1;
  own.recursive++;
  long x = recursive(n - 1) + work(n); // recursive
  return x * 2;
}

/* A loop with a different first turn. */
NOINLINE static long loop(long n) {
  long x = 0, first = 1;
  while (n-- > 0) {
    if (first)
      x = other(n);
    first = 0;
    own.loop++;
    x += work(x); // loop
  }
  return x;
}

/* Two ways to the same line. */
NOINLINE static long both(long x) {
  if (x & 1)
    x = work(x);
  else
    x = other(x);
  own.both++;
  x += work(x); // both
  return x;
}

#define DONE(what) (own.what++, sink = work(sink))

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 10, sum = 0, v[16];
  for (int i = 0; i < 16; i++)
    v[i] = i * argc;
  for (long i = 0; i < n; i++) {
    sum += body(v, i % 9);
    sum += plain(v, i % 11);
    sum += header(i % 10);
    sum += calls_inlined(i);
    sum += taken(i);
    sum += chosen(i);
    sum += either(i);
    sum += early(i);
    sum += split(i);
    sum += tail(i);
    sum += recursive(i % 4);
    sum += loop(i % 6);
    sum += both(i);
    DONE(macro); // macro
    own.last++;
    sink += sum; // last
  }
#define PRINT(what) printf(#what " %ld\n", own.what)
  PRINT(body), PRINT(plain), PRINT(header), PRINT(inlined), PRINT(taken), PRINT(chosen), PRINT(either), PRINT(early);
  PRINT(split), PRINT(tail), PRINT(recursive), PRINT(loop), PRINT(both), PRINT(macro), PRINT(last);
  return 0;
}
