package jvm;

import java.util.concurrent.locks.ReentrantLock;

/**
 * JCoz's fourth toy, many threads on one lock: four threads on two cores, each with 0.6 ms of its own work, then 1 ms
 * with the lock: the target. The lock is a monitor.
 *
 * <p>Truth: as for the C program lock: 25, 45, 57, 70 on a perfect scheduler.
 *
 * <p>-DUTIL: the lock is java.util.concurrent's.
 */
public class LockMany {
  private static final ReentrantLock lock = new ReentrantLock();

  /** The target. */
  static long update(int steps) {
    long x = steps;
    for (int i = 0; i < steps; i++) x = (x ^ x >>> 15) * Bench.M; // TARGET
    switch ((int) x) { case 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76 -> x++; }
    return x;
  }

  static void worker() throws Exception {
    int steps = Bench.shrunk(Bench.us(1000));
    for (boolean util = Bench.is("UTIL");;) {
      Bench.use(Bench.work(Bench.us(600)));
      if (util) {
        lock.lock();
        Bench.use(update(steps));
        lock.unlock();
      } else {
        synchronized (lock) {
          Bench.use(update(steps));
        }
      }
      Bench.visit();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    for (int i = 0; i < 3; i++) {
      Bench.spawn(LockMany::worker);
    }
    worker();
  }
}
