import java.io.FileOutputStream;

/**
 * JCoz's first toy: in each round two threads work, one longer than the other, and both are waited for. Making the long
 * work faster makes the program faster until both are equal; the short work changes nothing.
 *
 * <p>java Toy SECONDS PERCENT: the long work is shrunk by PERCENT. It prints how many rounds there were.
 */
public class Toy {
  static volatile long sink;

  static long mix(long x) {
    x ^= x << 13;
    x ^= x >>> 7;
    return x ^ x << 17;
  }

  static long longWork(int n) {
    long x = 88172645463325252L;
    for (int i = 0; i < n; i++) {
      x = mix(x);
    }
    return x;
  }

  static long shortWork(int n) {
    long x = 88172645463325252L;
    for (int i = 0; i < n; i++) {
      x = mix(x);
    }
    return x;
  }

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[0]);
    int shrunk = Integer.parseInt(args[1]);
    int unit = 1_000_000;
    int rounds = 0;
    FileOutputStream out = new FileOutputStream("/dev/null");
    long end = System.nanoTime() + (long) (1e9 * seconds);
    while (System.nanoTime() < end || rounds < 50 * seconds) { // half of what is usual, on a busy machine, too
      Thread longer = new Thread(() -> sink += longWork(3 * unit / 100 * (100 - shrunk)));
      Thread shorter = new Thread(() -> sink += shortWork(2 * unit));
      longer.start();
      shorter.start();
      longer.join();
      shorter.join();
      out.write(1);
      rounds++;
    }
    System.out.println("rounds " + rounds);
  }
}
