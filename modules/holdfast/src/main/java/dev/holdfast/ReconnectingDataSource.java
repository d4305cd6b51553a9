package dev.holdfast;

import dev.holdfast.model.value.Jitter;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Goes between a pool and the driver, so that the pool has a connection soon after an outage,
 * however long it was. HikariCP doubles its pause between two tries to connect, up to five seconds;
 * this goes on trying, with short pauses, until it can connect.
 */
public final class ReconnectingDataSource implements DataSource, AutoCloseable {
  private static final Duration PAUSE = Duration.ofMillis(250);

  private final DataSource driver;
  private final Duration pause;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean hasConnected;
  private volatile @Nullable SQLException failure;

  private ReconnectingDataSource(DataSource driver, Duration pause) {
    this.driver = Objects.requireNonNull(driver);
    this.pause = pause;
  }

  /**
   * @param driver opens connections, such as a {@code PGSimpleDataSource}; no pool
   */
  public static ReconnectingDataSource of(DataSource driver) {
    return of(driver, PAUSE);
  }

  /**
   * @param pause between two tries, give or take a quarter
   */
  public static ReconnectingDataSource of(DataSource driver, Duration pause) {
    if (pause.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("pause is " + pause + ", must be a millisecond or more");
    }
    return new ReconnectingDataSource(driver, pause);
  }

  @FunctionalInterface
  private interface Opening {
    Connection open() throws SQLException;
  }

  @Override
  public Connection getConnection() throws SQLException {
    return connected(driver::getConnection);
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return connected(() -> driver.getConnection(user, password));
  }

  /** The first one fails at once: whoever starts a program wants to know. */
  private Connection connected(Opening opening) throws SQLException {
    while (true) {
      try {
        Connection connection = opening.open();
        hasConnected = true;
        failure = null;
        return connection;
      } catch (SQLException e) {
        failure = e;
        if (!hasConnected || !SqlErrors.isOutage(e) || isClosedAfterPause()) {
          throw e;
        }
      }
    }
  }

  private boolean isClosedAfterPause() {
    try {
      return closed.await(Jitter.aroundQuarter(pause).toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Why the last try has failed; null after one that has not. */
  public @Nullable SQLException failure() {
    return failure;
  }

  /** Tries no longer. Close it before the pool, which may wait for it. */
  @Override
  public void close() {
    closed.countDown();
  }

  @Override
  public PrintWriter getLogWriter() throws SQLException {
    return driver.getLogWriter();
  }

  @Override
  public void setLogWriter(PrintWriter out) throws SQLException {
    driver.setLogWriter(out);
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    driver.setLoginTimeout(seconds);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return driver.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    return driver.getParentLogger();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    return type.isInstance(this) ? type.cast(this) : driver.unwrap(type);
  }

  @Override
  public boolean isWrapperFor(Class<?> type) throws SQLException {
    return type.isInstance(this) || driver.isWrapperFor(type);
  }
}
