package jvm;

/**
 * One thread sleeps for 4 ms, and computes for 6 ms. The sleep is the target, in whole milliseconds: Java 17 rounds
 * others.
 *
 * <p>Truth: 10, 20, 30, 40.
 */
public class Sleep {
  public static void main(String[] args) throws Exception {
    Bench.start(args);
    for (int ms = Bench.shrunk(4);;) {
      Thread.sleep(ms); // TARGET
      Bench.use(Bench.work(Bench.us(6000)));
      Bench.visit();
    }
  }
}
