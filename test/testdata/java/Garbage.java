import java.io.FileOutputStream;
import java.util.Random;

/**
 * java Garbage SECONDS: objects live long, so that much of the time is the garbage collector's. There are 60 rounds a
 * second at least, a third of what an idle core does, so that it has its part on a busy machine, too.
 */
public class Garbage {
  public static void main(String[] args) throws Exception {
    byte[][] kept = new byte[40_000][];
    Random random = new Random(1);
    FileOutputStream out = new FileOutputStream("/dev/null");
    double seconds = Double.parseDouble(args[0]);
    long end = System.nanoTime() + (long) (1e9 * seconds);
    for (int rounds = 0; System.nanoTime() < end || rounds < 60 * seconds; rounds++) {
      for (int i = 0; i < 5_000; i++) {
        kept[random.nextInt(kept.length)] = new byte[200 + random.nextInt(2_000)];
      }
      out.write(1);
    }
  }
}
