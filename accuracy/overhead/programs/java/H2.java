import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Random;

/** A bank in an H2 database in memory: each transaction changes three balances and writes a line of history. */
public class H2 implements Runs.Work {
  static final int TRANSACTIONS = 200, ACCOUNTS = 10_000, TELLERS = 100, BRANCHES = 10;

  final Connection connection = DriverManager.getConnection("jdbc:h2:mem:bank");
  final Random random = new Random(1);
  final PreparedStatement account = change("account"), teller = change("teller"), branch = change("branch");
  final PreparedStatement balance, history;

  public H2() throws Exception {
    connection.setAutoCommit(false);
    balance = connection.prepareStatement("select balance from account where id = ?");
    history = connection.prepareStatement("insert into history(account, amount) values (?, ?)");
  }

  PreparedStatement change(String table) throws Exception {
    int rows = table.equals("account") ? ACCOUNTS : table.equals("teller") ? TELLERS : BRANCHES;
    try (Statement s = connection.createStatement()) {
      s.execute("create table " + table + "(id int primary key, balance int)");
      s.execute("insert into " + table + " select x, 0 from system_range(0, " + (rows - 1) + ")");
      s.execute("create table if not exists history(account int, amount int)");
    }
    return connection.prepareStatement("update " + table + " set balance = balance + ? where id = ?");
  }

  void add(PreparedStatement s, int amount, int id) throws Exception {
    s.setInt(1, amount);
    s.setInt(2, id);
    s.executeUpdate();
  }

  @Override
  public void once() throws Exception {
    for (int i = 0; i < TRANSACTIONS; i++) {
      int id = random.nextInt(ACCOUNTS), amount = random.nextInt(1000);
      add(account, amount, id);
      balance.setInt(1, id);
      try (ResultSet r = balance.executeQuery()) {
        r.next();
      }
      add(teller, amount, random.nextInt(TELLERS));
      add(branch, amount, random.nextInt(BRANCHES));
      history.setInt(1, id);
      history.setInt(2, amount);
      history.executeUpdate();
      connection.commit();
    }
    try (Statement s = connection.createStatement()) {
      s.execute("truncate table history");
    }
  }
}
