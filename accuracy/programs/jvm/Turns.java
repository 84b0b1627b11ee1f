package jvm;

/**
 * Two threads take turns, with wait and notify: 1 ms, the target, and 2 ms.
 *
 * <p>Truth: 8, 17, 25, 33.
 */
public class Turns {
  private static final Object turn = new Object();
  private static boolean second;

  /** The target. */
  static long ask(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  /** Waits until it is the caller's turn, or gives the turn to the other. */
  private static void await(boolean mine) throws InterruptedException {
    synchronized (turn) {
      while (second != mine) {
        turn.wait();
      }
    }
  }

  private static void give(boolean to) {
    synchronized (turn) {
      second = to;
      turn.notify();
    }
  }

  static void answer() throws Exception {
    for (;;) {
      await(true);
      Bench.use(Bench.work(Bench.us(2000)));
      give(false);
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    Bench.spawn(Turns::answer);
    for (int steps = Bench.shrunk(Bench.us(1000));;) {
      await(false);
      Bench.use(ask(steps));
      Bench.visit();
      give(true);
    }
  }
}
