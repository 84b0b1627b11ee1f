import java.io.FileOutputStream;
import java.util.Random;

/** java Garbage SECONDS: objects live long, so that much of the time is the garbage collector's. */
public class Garbage {
  public static void main(String[] args) throws Exception {
    byte[][] kept = new byte[40_000][];
    Random random = new Random(1);
    FileOutputStream out = new FileOutputStream("/dev/null");
    long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(args[0]));
    while (System.nanoTime() < end) {
      for (int i = 0; i < 5_000; i++) {
        kept[random.nextInt(kept.length)] = new byte[200 + random.nextInt(2_000)];
      }
      out.write(1);
    }
  }
}
