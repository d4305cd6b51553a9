package dev.holdfast.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;

/** Pools of tests: they open connections as they are needed, and keep none that is idle. */
public final class Pool {
  /** A connection to a server that is there comes within this, except on a crowded machine. */
  private static final Duration IMPATIENT = Duration.ofMillis(250);

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private Pool() {}

  /** As patient as a pool is by default. */
  public static HikariDataSource of(String url, String user, String password, int size) {
    return of(url, user, password, size, TIMEOUT);
  }

  static HikariDataSource of(String url, String user, String password, int size, Duration timeout) {
    return new HikariDataSource(config(url, user, password, size, timeout));
  }

  /** One that notices soon that nobody is there, and is made even so. */
  public static HikariDataSource impatient(String url, TestDatabase database, int size) {
    HikariConfig config = config(url, database.user(), database.password(), size, IMPATIENT);
    config.setValidationTimeout(IMPATIENT.toMillis());
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  private static HikariConfig config(
      String url, String user, String password, int size, Duration timeout) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(timeout.toMillis());
    return config;
  }
}
