package jvm;

/**
 * The garbage collector is the target: in each round 4000 arrays are made, and then 1 ms of work is done. Of the newest
 * arrays a ring keeps so many alive that the collector has to copy megabytes. The shrunk program keeps fewer: it makes
 * as many arrays, and the collector has as much less to copy. What a collection takes with nothing alive is left.
 *
 * <p>Truth: measured only.
 */
public class Collector {
  private static final int ALIVE = 30_000;

  /** Makes arrays, and keeps them in place of the oldest. */
  static int make(byte[][] ring, int at, int alive) {
    for (int i = 0; i < 4_000; i++) {
      byte[] made = new byte[64 + (i & 63)]; // TARGET
      ring[at < alive ? at : ALIVE] = made; // also what dies at once is made, as HotSpot cannot leave it out
      at = at + 1 < ALIVE ? at + 1 : 0;
    }
    return at;
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    byte[][] ring = new byte[ALIVE + 1][];
    int alive = Bench.shrunk(ALIVE);
    for (int at = 0;;) {
      at = make(ring, at, alive);
      Bench.use(Bench.work(Bench.us(1000)));
      Bench.visit();
    }
  }
}
