package jvm;

/**
 * JCoz's first toy: in each round two threads work, 3 ms and 2 ms, and one joins the other, which is started anew. The
 * longer work is the target. With two new threads a round, Linux would now and then put both on one core for some
 * milliseconds, and the shorter would matter, too.
 *
 * <p>Truth: 25, 33, 33, 33, less what starting a thread takes.
 *
 * <p>-DSHORT: the shorter is the target: 0, 0, 0, 0.
 *
 * <p>-DEQUAL, JCoz's second toy: both run the target, 2 ms, then the main thread works for 1 ms: 17, 33, 50, 67.
 */
public class Join {
  /** The target. */
  static long parse(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    boolean equal = Bench.is("EQUAL");
    int target = Bench.shrunk(Bench.us(equal || Bench.is("SHORT") ? 2000 : 3000));
    int other = Bench.us(Bench.is("SHORT") ? 3000 : 2000);
    for (;;) {
      Thread one = new Thread(() -> Bench.use(parse(target)));
      one.start();
      Bench.use(equal ? parse(target) : Bench.work(other));
      one.join();
      if (equal) {
        Bench.use(Bench.work(Bench.us(1000)));
      }
      Bench.visit();
    }
  }
}
