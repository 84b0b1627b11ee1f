package jvm;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * JCoz's line in the H2 database, built anew: H2 has changed since. Four connections change the same row, each with 1
 * ms of work beside it, and 2 ms until it commits. If the row is locked for more than a millisecond, the transaction is
 * rolled back, and begins again after 1 to 10 ms, as H2 did it in its own code. A visit is a commit; the pause is the
 * target. In its place there are 1 to 10 us in the shrunk program.
 *
 * <p>Truth is measured only.
 */
public class Commits {
  private static final int LOCK_TIMEOUT = 50200;
  private static final int CONCURRENT_UPDATE = 90131;

  /** Waits until it is likely that others have given up or are done. */
  static void backOff(ThreadLocalRandom random) throws InterruptedException {
    int ms = 1 + random.nextInt(10);
    long begin = System.nanoTime();
    long length = 1000L * ms + Bench.shrunk(999_000 * ms);
    while (System.nanoTime() - begin < length) {
      if (length == 1_000_000L * ms) Thread.sleep(ms); else LockSupport.parkNanos(length); // TARGET
    }
  }

  /** One transaction; false if another one was in its way. */
  static boolean transfer(Connection connection, PreparedStatement update) throws SQLException {
    try {
      update.executeUpdate();
      Bench.use(Bench.work(Bench.us(2000)));
      connection.commit();
      return true;
    } catch (SQLException e) {
      if (e.getErrorCode() != LOCK_TIMEOUT && e.getErrorCode() != CONCURRENT_UPDATE) {
        throw e;
      }
      connection.rollback();
      return false;
    }
  }

  static void worker(String url) throws Exception {
    Connection connection = DriverManager.getConnection(url);
    connection.setAutoCommit(false);
    PreparedStatement update = connection.prepareStatement("UPDATE account SET amount = amount + 1 WHERE id = 1");
    ThreadLocalRandom random = ThreadLocalRandom.current();
    for (;;) {
      Bench.use(Bench.work(Bench.us(1000)));
      while (!transfer(connection, update)) {
        backOff(random);
      }
      Bench.visit();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    String url = "jdbc:h2:mem:bank;LOCK_TIMEOUT=1";
    Connection connection = DriverManager.getConnection(url);
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE account (id INT PRIMARY KEY, amount BIGINT)");
      statement.execute("INSERT INTO account VALUES (1, 0)");
    }
    for (int i = 0; i < 3; i++) {
      Bench.spawn(() -> worker(url));
    }
    worker(url);
  }
}
