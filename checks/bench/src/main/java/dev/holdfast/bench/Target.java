package dev.holdfast.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A database of a contender's own on the one server. */
record Target(String url, String user, String password) {
  /** Another database on this server, made anew. */
  Target fresh(String name) throws SQLException {
    try (Connection connection = open();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
      statement.execute("CREATE DATABASE " + name);
    }
    int slash = url.lastIndexOf('/');
    int query = url.indexOf('?', slash);
    return new Target(
        url.substring(0, slash + 1) + name + (query < 0 ? "" : url.substring(query)),
        user,
        password);
  }

  Connection open() throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }

  HikariDataSource pool(int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(size);
    return new HikariDataSource(config);
  }

  void run(String sql) throws SQLException {
    try (Connection connection = open();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  long count(String sql) throws SQLException {
    return Long.parseLong(text(sql));
  }

  /** The first column of the only row. */
  String text(String sql) throws SQLException {
    try (Connection connection = open();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  void expect(long expected, String sql) throws SQLException {
    long found = count(sql);
    if (found != expected) {
      throw new IllegalStateException("expected %d, found %d: %s".formatted(expected, found, sql));
    }
  }
}
