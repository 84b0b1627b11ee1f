import java.io.FileOutputStream;

/** Works for a moment, sleeps for 4 ms and writes a byte, again and again: java Rest ROUNDS. */
public class Rest {
  static volatile long sink;

  static long work(int n) {
    long x = n;
    for (int i = 0; i < n; i++) {
      x = x * 31 ^ x >>> 9;
    }
    return x;
  }

  static void pause() throws InterruptedException {
    Thread.sleep(4);
  }

  public static void main(String[] args) throws Exception {
    FileOutputStream out = new FileOutputStream("/dev/null");
    for (int i = Integer.parseInt(args[0]); i > 0; i--) {
      sink = work(200_000);
      pause();
      out.write(1);
    }
  }
}
