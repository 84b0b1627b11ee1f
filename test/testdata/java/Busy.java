import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that work when they are told, and count what they do themselves. Each command on standard input is answered by
 * a line.
 *
 * <p>work MS: two threads work for so long. "VISITS NANOSECONDS": how often they called visit, and their processor time.
 *
 * <p>storm MS: classes are loaded, their methods compiled, and the classes dropped, all the time. "CALLS CLASSES": how
 * often Leaf.m0 was called, and how many classes there were.
 *
 * <p>spin MS: one thread uses so much processor time, and counts nothing.
 */
public class Busy {
  static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  static volatile boolean over;
  static volatile long sink;
  static final AtomicLong visits = new AtomicLong(), nanos = new AtomicLong();

  /** What the threads compute, by several ways that the compiler inlines. */
  interface Step {
    long apply(long x);
  }

  static final Step[] steps = {Busy::shift, x -> x * 31 + 7, new Mix()};

  static class Mix implements Step {
    @Override
    public long apply(long x) {
      return Long.rotateLeft(x, 11) ^ x;
    }
  }

  static long shift(long x) {
    x ^= x << 13;
    x ^= x >>> 7;
    return x ^ x << 17;
  }

  static long round(long x, int n) {
    for (int i = 0; i < n; i++) {
      x = steps[i % steps.length].apply(x);
      x = shift(x);
    }
    return x;
  }

  static long visit(long x) {
    x = round(x, 5000); // COUNTED
    return x;
  }

  static void worker() {
    long x = 88172645463325252L, done = 0;
    long begun = threads.getCurrentThreadCpuTime();
    while (!over) {
      x = visit(x);
      done++;
    }
    sink = x;
    visits.addAndGet(done);
    nanos.addAndGet(threads.getCurrentThreadCpuTime() - begun);
  }

  static void during(long ms, Runnable... all) throws InterruptedException {
    over = false;
    Thread[] started = new Thread[all.length];
    for (int i = 0; i < all.length; i++) {
      started[i] = new Thread(all[i]);
      started[i].start();
    }
    Thread.sleep(ms);
    over = true;
    for (Thread t : started) {
      t.join();
    }
  }

  /** Defines Leaf once more. */
  static class Loader extends ClassLoader {
    Class<?> leaf(byte[] code) {
      return defineClass("Busy$Leaf", code, 0, code.length);
    }
  }

  static final AtomicLong calls = new AtomicLong(), classes = new AtomicLong();

  static void storm(byte[] code) {
    while (!over) {
      try {
        Object leaf = new Loader().leaf(code).getConstructor().newInstance();
        calls.addAndGet(((java.util.function.IntUnaryOperator) leaf).applyAsInt(300));
        classes.incrementAndGet();
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Its methods are called so often that they are compiled. */
  public static class Leaf implements java.util.function.IntUnaryOperator {
    static int sum;

    @Override
    public int applyAsInt(int n) {
      for (int i = 0; i < n; i++) {
        m0(i);
        m1(i);
        m2(i);
        m3(i);
        m4(i);
        m5(i);
        m6(i);
        m7(i);
        m8(i);
        m9(i);
      }
      return n;
    }

    static void m0(int i) {
      sum += i;
    }

    static void m1(int i) {
      sum ^= i;
    }

    static void m2(int i) {
      sum -= i;
    }

    static void m3(int i) {
      sum *= i | 1;
    }

    static void m4(int i) {
      sum += i << 4;
    }

    static void m5(int i) {
      sum += i >> 1;
    }

    static void m6(int i) {
      sum ^= ~i;
    }

    static void m7(int i) {
      sum = -sum;
    }

    static void m8(int i) {
      sum |= i;
    }

    static void m9(int i) {
      sum &= ~i;
    }
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    byte[] code;
    try (InputStream file = Busy.class.getResourceAsStream("Busy$Leaf.class")) {
      code = file.readAllBytes();
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      long ms = Long.parseLong(words[1]);
      visits.set(0);
      nanos.set(0);
      calls.set(0);
      classes.set(0);
      if (words[0].equals("work")) {
        during(ms, Busy::worker, Busy::worker);
        System.out.println(visits + " " + nanos);
      } else if (words[0].equals("spin")) {
        long end = threads.getCurrentThreadCpuTime() + ms * 1_000_000;
        while (threads.getCurrentThreadCpuTime() < end) {
          sink = round(sink, 1000);
        }
        System.out.println("0 0");
      } else {
        during(ms, () -> storm(code), () -> storm(code));
        System.out.println(calls + " " + classes);
      }
    }
  }
}
