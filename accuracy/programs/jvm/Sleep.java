package jvm;

/**
 * One thread sleeps for 4 ms, and computes for 6 ms. The sleep is the target, in whole milliseconds: Java 17 rounds
 * others.
 *
 * <p>Truth: 10, 20, 30, 40.
 */
public class Sleep {
  /** The target. */
  static void pause(int ms) throws InterruptedException {
    Thread.sleep(ms); // TARGET
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    for (int i = 0; i < 1000; i++) {
      pause(0); // so that it is compiled: callers of interpreted code are not found
    }
    for (int ms = Bench.shrunk(4);;) {
      pause(ms);
      Bench.use(Bench.work(Bench.us(6000)));
      Bench.visit();
    }
  }
}
