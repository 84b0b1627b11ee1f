package jvm;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A stream with lambdas: of a hundred numbers some are kept, those are scored by the target, 20 us each, and ranked, 10
 * us each, and put into groups. HotSpot inlines the target into the lambda that calls it, and that into the stream.
 *
 * <p>Truth: some 16, 32, 48, 64, less what the stream takes.
 */
public class Streams {
  /** The target. */
  static long score(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    return x;
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    int steps = Bench.shrunk(Bench.us(20));
    int others = Bench.us(10);
    for (int round = 0;; round++) {
      int seed = round & 1023;
      Map<Long, Long> groups =
          IntStream.range(0, 100)
              .filter(i -> (i + seed) % 5 != 0)
              .mapToObj(i -> i + score(steps))
              .map(x -> x + Bench.work(others))
              .collect(Collectors.groupingBy(x -> x & 7, Collectors.summingLong(x -> x)));
      Bench.use(groups.size());
      Bench.visit();
    }
  }
}
