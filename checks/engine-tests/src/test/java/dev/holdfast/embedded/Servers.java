package dev.holdfast.embedded;

import static org.awaitility.Awaitility.await;

import dev.holdfast.embedded.EmbeddedPostgres.Options;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** What the tests of this module have in common. */
final class Servers {
  /** Unpacked by the first test of the first run. */
  static final Path CACHE = Path.of("target", "binaries").toAbsolutePath();

  private Servers() {}

  static Options options(Path folder) {
    return Options.in(folder).cache(CACHE);
  }

  static EmbeddedPostgres start(Path folder) {
    return EmbeddedPostgres.start(options(folder));
  }

  static Connection connect(Running running) throws SQLException {
    return DriverManager.getConnection(running.jdbcUrl(), running.user(), running.password());
  }

  static Connection connect(EmbeddedPostgres server) throws SQLException {
    return DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
  }

  static String query(EmbeddedPostgres server, String sql) throws SQLException {
    try (Connection connection = connect(server)) {
      return query(connection, sql);
    }
  }

  static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return "";
      }
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        return rows.getString(1);
      }
    }
  }

  /** kill -9. */
  static void kill(long pid) {
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    awaitGone(pid);
  }

  static void awaitGone(long pid) {
    await()
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(10))
        .until(() -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
  }
}
