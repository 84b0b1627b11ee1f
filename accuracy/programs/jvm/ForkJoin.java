package jvm;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * A tree of tasks in a ForkJoinPool of two threads: in each round eight leaves of 1 ms, the target, then 2 ms in one
 * thread.
 *
 * <p>Truth: a round takes 4(1-s) + 2 ms: 17, 33, 50, 67.
 */
public class ForkJoin {
  /** The target. */
  static long leaf(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  /** Half of the leaves is forked, and half is done by the thread itself. */
  static class Tree extends RecursiveTask<Long> {
    private final int leaves;
    private final int steps;

    Tree(int leaves, int steps) {
      this.leaves = leaves;
      this.steps = steps;
    }

    @Override
    protected Long compute() {
      if (leaves == 1) {
        return leaf(steps);
      }
      Tree left = new Tree(leaves / 2, steps);
      Tree right = new Tree(leaves / 2, steps);
      left.fork();
      return right.compute() + left.join();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    ForkJoinPool pool = new ForkJoinPool(2);
    for (int steps = Bench.shrunk(Bench.us(1000));;) {
      Bench.use(pool.invoke(new Tree(8, steps)));
      Bench.use(Bench.work(Bench.us(2000)));
      Bench.visit();
    }
  }
}
