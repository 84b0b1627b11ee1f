/**
 * In each round two threads work and end, so that the VM starts threads and compiles code all the time. It goes on until
 * something is on standard input, and prints how many rounds there were.
 */
public class Busy {
  static volatile long sink;

  static long work(int n) {
    long x = 88172645463325252L;
    for (int i = 0; i < n; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  public static void main(String[] args) throws Exception {
    int rounds = 0;
    do {
      Thread longer = new Thread(() -> sink += work(300_000));
      Thread shorter = new Thread(() -> sink += work(200_000));
      longer.start();
      shorter.start();
      longer.join();
      shorter.join();
      rounds++;
      Thread.sleep(1);
    } while (System.in.available() == 0);
    System.out.println("rounds " + rounds);
  }
}
