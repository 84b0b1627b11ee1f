import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Virtual threads, which Java has since 21, work and wait by turns.
 *
 * <p>java Virtual THREADS TURNS
 */
public class Virtual {
  static final AtomicInteger over = new AtomicInteger();
  static volatile long sink;

  static void turn() {
    long x = 88172645463325252L;
    for (int i = 0; i < 200_000; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    sink = x;
  }

  static void turns(int n) {
    try {
      for (int i = 0; i < n; i++) {
        turn();
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    over.incrementAndGet();
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[0]), turns = Integer.parseInt(args[1]);
    // So that older compilers take it.
    Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    for (int i = 0; i < threads; i++) {
      start.invoke(null, (Runnable) () -> turns(turns));
    }
    while (over.get() < threads) {
      Thread.sleep(5);
    }
    System.out.println("turns " + threads * turns);
  }
}
