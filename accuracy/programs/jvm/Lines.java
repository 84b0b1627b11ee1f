package jvm;

/**
 * Lines with known shares of the time, for accuracy/lines: java jvm.Lines SECONDS. Each step takes as long as any
 * other one and needs the result of the one before, so a line's share is that of its steps, which the program counts.
 *
 * <p>A line that ends with "// KIND.NAME" has steps. At its end the program prints "KIND.NAME STEPS" for each, and
 * "visits ROUNDS seconds T".
 */
public final class Lines {
  private static final long M = 0x9E3779B97F4A7C15L;

  /** HotSpot cannot know that a loop ends if it does not know this, so it looks in each step whether it is to stop. */
  private static volatile long stride = 1;

  private static volatile long used;

  private static long a, b, c, d, e; // steps of five lines

  private Lines() {}

  /** Loops of one line each, without a poll for safepoints in their steps. */
  static long loops(long x, int a, int b, int c, int d, int e) {
    for (int i = 0; i < a; i++) x = x * M ^ x >>> 9; // loops.a
    for (int i = 0; i < b; i++) x = x * M ^ x >>> 9; // loops.b
    for (int i = 0; i < c; i++) x = x * M ^ x >>> 9; // loops.c
    for (int i = 0; i < d; i++) x = x * M ^ x >>> 9; // loops.d
    for (int i = 0; i < e; i++) x = x * M ^ x >>> 9; // loops.e
    return x;
  }

  /** The same, with a poll in each step. */
  static long polls(long x, long stride, int a, int b, int c, int d, int e) {
    for (long i = 0; i < a; i += stride) x = x * M ^ x >>> 9; // polls.a
    for (long i = 0; i < b; i += stride) x = x * M ^ x >>> 9; // polls.b
    for (long i = 0; i < c; i += stride) x = x * M ^ x >>> 9; // polls.c
    for (long i = 0; i < d; i += stride) x = x * M ^ x >>> 9; // polls.d
    for (long i = 0; i < e; i += stride) x = x * M ^ x >>> 9; // polls.e
    return x;
  }

  /** Lines one after the other, each some nanoseconds long. */
  static long straight(long x, int n) {
    for (int i = 0; i < n; i++) {
      x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // straight.a
      x = x * M ^ x >>> 9; // straight.b
      x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // straight.c
      x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // straight.d
      x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // straight.e
    }
    return x;
  }

  static long inner(long x) {
    x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // inlined.three
    return x;
  }

  static long middle(long x) {
    x = x * M ^ x >>> 9; // inlined.one
    return inner(x);
  }

  static long outer(long x) {
    x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // inlined.two
    return middle(x);
  }

  /** Methods that are inlined into each other, three deep. */
  static long inlined(long x, int n) {
    for (int i = 0; i < n; i++) {
      x = outer(x);
      x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; x = x * M ^ x >>> 9; // inlined.four
    }
    return x;
  }

  /** One visit: some tens of microseconds of each kind. */
  static long round(long x) {
    // Different in each round, 250 to 3000 steps.
    int r = (int) (x >>> 40) & 255;
    int a = 500 + r, b = 1500 - r, c = 3000 - 2 * r, d = 250 + r, e = 2000 + 3 * r;
    x = loops(x, a, b, c, d, e);
    x = polls(x, stride, a, b, c, d, e);
    Lines.a += a;
    Lines.b += b;
    Lines.c += c;
    Lines.d += d;
    Lines.e += e;
    return inlined(straight(x, 500), 700);
  }

  public static void main(String[] args) {
    long length = (long) (1e9 * Double.parseDouble(args[0]));
    long begin = System.nanoTime(), rounds = 0, x = 1;
    for (; System.nanoTime() - begin < length; rounds++) {
      x = round(x);
    }
    used = x;
    for (String kind : new String[] {"loops", "polls"}) {
      System.out.printf("%s.a %d %1$s.b %d %1$s.c %d %1$s.d %d %1$s.e %d%n", kind, a, b, c, d, e);
    }
    long n = 500 * rounds;
    System.out.printf("straight.a %d straight.b %d straight.c %d straight.d %d straight.e %d%n",
        3 * n, n, 4 * n, 2 * n, 4 * n);
    n = 700 * rounds;
    System.out.printf("inlined.one %d inlined.two %d inlined.three %d inlined.four %d%n", n, 2 * n, 3 * n, 4 * n);
    System.out.printf("visits %d seconds %.6f%n", rounds, (System.nanoTime() - begin) / 1e9);
  }
}
