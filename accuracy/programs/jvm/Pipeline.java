package jvm;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Three stages with a BlockingQueue between each two: 1, 4 and 1.5 ms. The slowest, in the middle, is the target.
 *
 * <p>Truth: an item takes max(4(1-s), 1.5, (6.5-4s)/2) ms: 25, 44, 56, 63 on a perfect scheduler.
 *
 * <p>-DSHORT: the target is the middle stage still, with 1 ms; the last takes 4 ms: 0, 0, 0, 0.
 */
public class Pipeline {
  private static final BlockingQueue<Long> first = new ArrayBlockingQueue<>(8);
  private static final BlockingQueue<Long> second = new ArrayBlockingQueue<>(8);

  /** The target. */
  static long transform(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  static void produce() throws Exception {
    for (;;) {
      first.put(Bench.work(Bench.us(1000)));
    }
  }

  static void middle() throws Exception {
    for (int steps = Bench.shrunk(Bench.us(Bench.is("SHORT") ? 1000 : 4000));;) {
      second.put(first.take() + transform(steps));
    }
  }

  static void consume() throws Exception {
    for (int steps = Bench.us(Bench.is("SHORT") ? 4000 : 1500);;) {
      Bench.use(second.take() + Bench.work(steps));
      Bench.visit();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    Bench.spawn(Pipeline::produce);
    Bench.spawn(Pipeline::middle);
    consume();
  }
}
