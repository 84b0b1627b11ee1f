import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Does the same work again and again, for some time to warm up and for some time to be measured. It prints how often it
 * did it, in how many seconds, and how much processor time the whole VM took.
 *
 * <p>java Runs CLASS WARM-UP SECONDS
 */
public class Runs {
  static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /** A piece of work, which takes some ten milliseconds. */
  public interface Work {
    void once() throws Exception;
  }

  static void piece(Work work) throws Exception {
    work.once();
  }

  public static void main(String[] args) throws Exception {
    Work work = (Work) Class.forName(args[0]).getConstructor().newInstance();
    long begun = System.nanoTime();
    long measured = begun + (long) (1e9 * Double.parseDouble(args[1]));
    while (System.nanoTime() < measured) {
      piece(work);
    }
    long cpu = -SYSTEM.getProcessCpuTime();
    measured = System.nanoTime();
    long end = measured + (long) (1e9 * Double.parseDouble(args[2]));
    long now = measured;
    int visits = 0;
    for (; now < end; now = System.nanoTime()) {
      piece(work);
      visits++;
    }
    cpu += SYSTEM.getProcessCpuTime();
    System.out.println("visits " + visits + " seconds " + (now - measured) / 1e9 + " cpu " + cpu / 1e9);
    System.exit(0);
  }
}
