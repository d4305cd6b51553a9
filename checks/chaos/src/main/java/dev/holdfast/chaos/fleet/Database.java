package dev.holdfast.chaos.fleet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;

/** The database of a run, for the checks: statements that no fault of the network breaks. */
public final class Database implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final PostgresServer server;
  private final HikariDataSource direct;

  public Database(PostgresServer server) {
    this.server = server;
    this.direct = pool(server.directUrl(), "connectTimeout=20&socketTimeout=120", 6);
    // On a busy machine a connection takes long; that is no finding.
    this.direct.setConnectionTimeout(PATIENCE.toMillis());
  }

  public DataSource direct() {
    return direct;
  }

  /** As clients reach it. */
  public HikariDataSource pool(int size) {
    return pool(url(), "connectTimeout=5&socketTimeout=20", size);
  }

  private HikariDataSource pool(String url, String timeouts, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url.contains("?") ? url : url + "?" + timeouts);
    config.setUsername(user());
    config.setPassword(password());
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(5_000);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /** As clients reach it. */
  public String url() {
    return server.url();
  }

  public String directUrl() {
    return server.directUrl();
  }

  public String user() {
    return server.user();
  }

  public String password() {
    return server.password();
  }

  // ---- statements

  /** Whether it does right now: without the pool, which would wait. */
  public boolean answers() {
    String url = directUrl();
    try (Connection connection =
            DriverManager.getConnection(
                url + (url.contains("?") ? "&" : "?") + "loginTimeout=5", user(), password());
        Statement statement = connection.createStatement()) {
      return statement.execute("SELECT 1");
    } catch (SQLException away) {
      return false;
    }
  }

  public void execute(String sql) throws SQLException {
    try (Connection connection = direct.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The number in the first column of the first row. */
  public long count(String sql, Object... arguments) throws SQLException {
    try (Connection connection = direct.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, arguments);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? rows.getLong(1) : 0;
      }
    }
  }

  /** The first column. */
  public List<String> texts(String sql, Object... arguments) throws SQLException {
    try (Connection connection = direct.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, arguments);
      List<String> texts = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          texts.add(rows.getString(1));
        }
      }
      return texts;
    }
  }

  /** The first two columns: what belongs to each id. */
  public Map<UUID, String> byId(String sql) throws SQLException {
    try (Connection connection = direct.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      Map<UUID, String> all = new HashMap<>();
      while (rows.next()) {
        all.put(rows.getObject(1, UUID.class), rows.getString(2).intern());
      }
      return all;
    }
  }

  public List<UUID> ids(String sql) throws SQLException {
    return texts(sql).stream().map(UUID::fromString).toList();
  }

  private static void set(PreparedStatement statement, Object... arguments) throws SQLException {
    for (int i = 0; i < arguments.length; i++) {
      statement.setObject(i + 1, arguments[i]);
    }
  }

  @Override
  public void close() {
    direct.close();
    server.close();
  }
}
