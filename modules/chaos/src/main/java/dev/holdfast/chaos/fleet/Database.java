package dev.holdfast.chaos.fleet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** The database of a run, for the checks: statements that no fault of the network breaks. */
public final class Database implements AutoCloseable {
  private final PostgresServer server;
  private final HikariDataSource direct;

  public Database(PostgresServer server) {
    this.server = server;
    this.direct = pool(server.directUrl(), 6);
  }

  public DataSource direct() {
    return direct;
  }

  /** As clients reach it. */
  public HikariDataSource pool(int size) {
    return pool(url(), size);
  }

  private HikariDataSource pool(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url.contains("?") ? url : url + "?connectTimeout=5&socketTimeout=20");
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
