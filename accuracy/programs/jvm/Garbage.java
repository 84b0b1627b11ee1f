package jvm;

import java.util.HashMap;
import java.util.Map;

/**
 * A program that makes much garbage: in each round it replaces some entries of a map, which live long enough to be
 * copied, and computes for 2 ms: the target, which allocates nothing. The collector stops the program, and works beside
 * it. The heap has a fixed size, and the map is filled before the first round, so that all rounds are alike.
 *
 * <p>Truth: the target's share, measured only.
 */
public class Garbage {
  private static final int KEYS = 40_000;

  /** The target. */
  static long score(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  /** Replaces entries of the map. */
  static long replace(Map<Integer, byte[]> map, int round, int entries) {
    long sum = 0;
    for (int i = 0; i < entries; i++) {
      int key = (round * entries + i) * 31 % KEYS;
      byte[] old = map.put(key, new byte[64 + (key & 63)]);
      sum += old == null ? 0 : old.length;
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    Map<Integer, byte[]> map = new HashMap<>();
    int steps = Bench.shrunk(Bench.us(2000));
    Bench.use(replace(map, 0, KEYS));
    for (int round = 0;; round = (round + 1) % 10_000) {
      Bench.use(replace(map, round, 8_000));
      Bench.use(score(steps));
      Bench.visit();
    }
  }
}
