package jvm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Chains of CompletableFutures in a pool of two threads: 1 ms, then the target, 2 ms; beside it 2 ms; then, with both
 * results, 1 ms.
 *
 * <p>Truth: a round takes max(1 + 2(1-s), 2) + 1 ms: 12.5, 25, 25, 25.
 */
public class Futures {
  /** The target. */
  static long parse(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    for (int steps = Bench.shrunk(Bench.us(2000));;) {
      CompletableFuture<Long> parsed =
          CompletableFuture.supplyAsync(() -> Bench.work(Bench.us(1000)), pool)
              .thenApplyAsync(text -> text + parse(steps), pool);
      CompletableFuture<Long> looked = CompletableFuture.supplyAsync(() -> Bench.work(Bench.us(2000)), pool);
      Bench.use(parsed.thenCombineAsync(looked, (a, b) -> a + b + Bench.work(Bench.us(1000)), pool).get());
      Bench.visit();
    }
  }
}
