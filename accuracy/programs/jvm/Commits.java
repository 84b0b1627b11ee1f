package jvm;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * JCoz's line in the H2 database, built anew: H2 has changed since. Two connections change the same row, each with 0 to
 * 6 ms of work before that, and 1.5 to 4.5 ms until it commits. If the row is locked for more than a millisecond, the
 * transaction is rolled back, and begins again after 1 to 10 ms, as H2 did it in its own code. A visit is a commit; the
 * pause is the target. In its place there are 1 to 10 us in the shrunk program.
 *
 * <p>Lengths are random, as the two would otherwise fall into step. With no more connections than cores the pause is on
 * the critical path, as nothing else can use its time.
 *
 * <p>Truth, where statements and commits take no time: 3, 9, 17, 22.
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
  static boolean transfer(Connection connection, PreparedStatement update, int work) throws SQLException {
    try {
      update.executeUpdate();
      Bench.use(Bench.work(work));
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
      Bench.use(Bench.work(Bench.us(random.nextInt(6001))));
      int work = Bench.us(1500 + random.nextInt(3001));
      while (!transfer(connection, update, work)) {
        backOff(random);
      }
      Bench.visit();
    }
  }

  public static void main(String[] args) throws Exception {
    Bench.start(args);
    String url = "jdbc:h2:mem:bank;LOCK_TIMEOUT=1;DB_CLOSE_ON_EXIT=FALSE";
    Connection connection = DriverManager.getConnection(url);
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE account (id INT PRIMARY KEY, amount BIGINT)");
      statement.execute("INSERT INTO account VALUES (1, 0)");
    }
    Bench.spawn(() -> worker(url));
    worker(url);
  }
}
