package jvm;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * JCoz's line in the H2 database, built anew: H2 has changed since. Four threads change two of four rows in each
 * transaction, the lower first. If a row is locked for more than a millisecond, the transaction is rolled back, and
 * begins again after 1 to 10 ms, as H2 did it in its own code. A visit is a commit; the pause is the target. Without
 * it, 1 to 10 us are left.
 *
 * <p>Truth is measured only.
 */
public class Commits {
  private static final int ROWS = 4;
  private static final int LOCK_TIMEOUT = 50200;
  private static final int CONCURRENT_UPDATE = 90131;

  /** Waits until it is likely that others have given up or are done. */
  static void backOff(ThreadLocalRandom random) {
    int ms = 1 + random.nextInt(10);
    LockSupport.parkNanos(1000L * ms + Bench.shrunk(1_000_000 * ms)); // TARGET
  }

  /** One transaction; false if others were in its way. */
  static boolean transfer(Connection connection, PreparedStatement update, int low, int high) throws SQLException {
    try {
      for (int row : new int[] {low, high}) {
        update.setInt(1, row);
        update.executeUpdate();
        Bench.use(Bench.work(Bench.us(300)));
      }
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
    PreparedStatement update = connection.prepareStatement("UPDATE account SET amount = amount + 1 WHERE id = ?");
    ThreadLocalRandom random = ThreadLocalRandom.current();
    for (;;) {
      int low = random.nextInt(ROWS - 1);
      int high = low + 1 + random.nextInt(ROWS - 1 - low);
      while (!transfer(connection, update, low, high)) {
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
      statement.execute("INSERT INTO account SELECT x, 0 FROM SYSTEM_RANGE(0, " + (ROWS - 1) + ")");
    }
    for (int i = 0; i < 3; i++) {
      Bench.spawn(() -> worker(url));
    }
    worker(url);
  }
}
