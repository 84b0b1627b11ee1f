package jvm;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the Java programs of the accuracy suite share: bench.h in Java.
 *
 * <p>java jvm.NAME PERCENT SECONDS: the target's work is shrunk by PERCENT. The program first warms up, uncounted, so
 * that HotSpot has compiled what matters. Then it runs SECONDS, and prints "visits N seconds T".
 *
 * <p>Methods of work are written out in each program, and have three lines:
 *
 * <pre>
 *   for (int i = 0; i &lt; steps; i++) x = (x ^ x >>> 15) * Bench.M;
 *   switch ((int) x) { case 0, 4, 8, …, 76 -> x++; }
 *   return x;
 * </pre>
 *
 * <p>The number of steps is a parameter, each step needs the one before, and the result goes to {@link #use}: nothing
 * can be left out or done at once. The loop is compiled after milliseconds, while it runs (OSR). The switch does
 * nothing. It makes the method longer than 325 bytes of bytecode (-XX:FreqInlineSize), so HotSpot never inlines it:
 * otherwise the work would be compiled, and fast, in one run, and in another one not. Streams.java has a target that is
 * inlined.
 */
final class Bench {
  /** The factor of a step: xor, shift and multiplication take 5 cycles, C's step in bench.h takes 4. */
  static final long M = 0x9E3779B97F4A7C15L;

  private static final long WARM_UP = 500_000_000;

  private static int percent;
  private static double seconds;
  private static long steps;
  private static RandomAccessFile progress;
  private static volatile long used;

  private static final AtomicLong begun = new AtomicLong();
  private static final AtomicLong started = new AtomicLong();
  private static final AtomicLong visits = new AtomicLong();
  private static final AtomicBoolean ended = new AtomicBoolean();

  private Bench() {}

  /** Reads PERCENT and SECONDS, and learns how fast the processor is. */
  static void start(String[] args) throws IOException {
    if (args.length < 2) {
      System.err.println("usage: java jvm.NAME PERCENT SECONDS");
      System.exit(2);
    }
    percent = Integer.parseInt(args[0]);
    seconds = Double.parseDouble(args[1]);
    if (percent < 0 || percent > 100 || !(seconds > 0)) {
      System.err.println("bench: PERCENT is 0 to 100, SECONDS more than 0");
      System.exit(2);
    }
    progress = new RandomAccessFile("/dev/null", "r");
    String known = System.getenv("WHATIF_STEPS");
    steps = known == null || known.isEmpty() ? measured() : Math.max(1, Long.parseLong(known) * 4 / 5);
  }

  /** How many steps take a microsecond: by the fastest of some short loops, once they are compiled. As in bench.h. */
  private static long measured() {
    final int lap = 100_000;
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 400; i++) {
      long begin = System.nanoTime();
      use(work(lap));
      best = Math.min(best, System.nanoTime() - begin);
    }
    String scale = System.getenv("WHATIF_CALIBRATION");
    return Math.max(1, Math.round(lap * 1000.0 / best * (scale == null || scale.isEmpty() ? 1 : Double.parseDouble(scale))));
  }

  /** As many steps as take so many microseconds. */
  static int us(int microseconds) {
    return (int) (microseconds * steps);
  }

  /** What is left of the target's n. */
  static int shrunk(int n) {
    return (int) ((long) n * (100 - percent) / 100);
  }

  /** Whether the program is a variant: -DNAME, as for the C compiler. */
  static boolean is(String name) {
    return System.getProperty(name) != null;
  }

  /** Work that is not the target. */
  static long work(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * M;
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  /** Takes a result, so that it is not computed for nothing. */
  static void use(long result) {
    used = result;
  }

  /** A thread of the program, which ends with it. */
  static void spawn(Body body) {
    Thread thread = new Thread(() -> run(body));
    thread.setDaemon(true);
    thread.start();
  }

  /** What a thread does. */
  interface Body {
    void run() throws Exception;
  }

  /** Runs a body, and ends the program if it fails. */
  static void run(Body body) {
    try {
      body.run();
    } catch (Exception e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  /**
   * Called once a visit, from the line that is the progress point. A call of lseek can be counted from outside, too: as
   * a check that both points give the same. It takes 0.2 us.
   */
  static void progressDone() throws IOException {
    progress.seek(0);
  }

  /** One unit of progress. Any thread may call it. The first call after SECONDS reports, and ends the program. */
  static void visit() throws IOException {
    long now = System.nanoTime();
    begun.compareAndSet(0, now);
    if (now - begun.get() < WARM_UP) {
      return;
    }
    progressDone(); // POINT
    if (started.compareAndSet(0, now)) {
      return;
    }
    long n = visits.incrementAndGet();
    double passed = (now - started.get()) / 1e9;
    if (passed < seconds || ended.getAndSet(true)) {
      return;
    }
    System.out.printf("visits %d seconds %.6f%n", n, passed);
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }
}
