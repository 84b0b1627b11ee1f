package jvm;

import java.util.concurrent.CyclicBarrier;

/**
 * JCoz's third toy: one thread waits for the other's monitor. In each round the first holds it for the target, 2 ms.
 * The second works 0.5 ms, then needs it for 1 ms.
 *
 * <p>Truth: a round takes max(2(1-s), 0.5) + 1 ms: 17, 33, 50, 50.
 */
public class LockWait {
  private static final Object lock = new Object();
  private static final CyclicBarrier begin = new CyclicBarrier(2);
  private static final CyclicBarrier end = new CyclicBarrier(2);

  /** The target. */
  static long update(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  static void first() throws Exception {
    for (int steps = Bench.shrunk(Bench.us(2000));;) {
      synchronized (lock) {
        begin.await();
        Bench.use(update(steps));
      }
      end.await();
    }
  }

  static void second() throws Exception {
    for (;;) {
      begin.await();
      Bench.use(Bench.work(Bench.us(500)));
      synchronized (lock) {
        Bench.use(Bench.work(Bench.us(1000)));
      }
      Bench.visit();
      end.await();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    Bench.spawn(LockWait::first);
    second();
  }
}
