package dev.holdfast.chaos.fleet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * A PostgreSQL that may be killed, and the proxy through which everybody but the checks reaches it.
 */
public final class Database implements AutoCloseable {
  private final Path folder;
  private EmbeddedPostgres server;
  private final FaultProxy proxy;
  private final HikariDataSource direct;

  private Database(Path folder) {
    this.folder = folder;
    this.server = EmbeddedPostgres.start(TestServer.options(folder));
    this.proxy = FaultProxy.before(server.port());
    this.direct = pool(url(server.port()), 6);
  }

  public static Database start(Path folder) {
    return new Database(folder);
  }

  /** As a server that crashes: what it had not flushed is gone. */
  public synchronized void kill() {
    server.kill();
  }

  public synchronized void startAgain() {
    server = EmbeddedPostgres.start(TestServer.options(folder).port(server.port()));
  }

  public FaultProxy proxy() {
    return proxy;
  }

  public DataSource direct() {
    return direct;
  }

  /** Through the proxy. */
  public HikariDataSource pool(int size) {
    return pool(url(), size);
  }

  private HikariDataSource pool(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url + "?connectTimeout=5&socketTimeout=20");
    config.setUsername(user());
    config.setPassword(password());
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(5_000);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /** Through the proxy. */
  public String url() {
    return url(proxy.port());
  }

  public String directUrl() {
    return url(server.port());
  }

  private static String url(int port) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
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
    proxy.close();
    server.kill();
  }
}
