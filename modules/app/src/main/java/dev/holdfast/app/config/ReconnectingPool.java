package dev.holdfast.app.config;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.DriverDataSource;
import dev.holdfast.model.value.Jitter;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A pool that has a connection soon after an outage, however long it was. HikariCP itself doubles
 * its pause between two tries to connect, up to five seconds; here it asks a source that goes on
 * trying, with short pauses, until it can connect.
 */
final class ReconnectingPool extends HikariDataSource {
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final Source source;

  private ReconnectingPool(HikariConfig config, Source source) {
    super(config);
    this.source = source;
  }

  /**
   * @param config with the URL, the user and the properties of the driver
   */
  static ReconnectingPool of(HikariConfig config) {
    return of(config, PAUSE);
  }

  static ReconnectingPool of(HikariConfig config, Duration pause) {
    Source source =
        new Source(
            pause,
            new DriverDataSource(
                config.getJdbcUrl(),
                config.getDriverClassName(),
                config.getDataSourceProperties(),
                config.getUsername(),
                config.getPassword()));
    config.setDataSource(source);
    return new ReconnectingPool(config, source);
  }

  /** During an outage the exception has its cause, which HikariCP is not told. */
  @Override
  public Connection getConnection() throws SQLException {
    try {
      return super.getConnection();
    } catch (SQLTransientConnectionException timeout) {
      SQLException failure = source.failure;
      if (failure == null) {
        throw timeout;
      }
      // Newer than what HikariCP knows: why an idle connection was found broken, or an old login.
      throw new SQLTransientConnectionException(
          timeout.getMessage(), failure.getSQLState(), failure);
    }
  }

  @Override
  public void close() {
    source.closed.countDown();
    super.close();
  }

  @FunctionalInterface
  private interface Opening {
    Connection open() throws SQLException;
  }

  private static final class Source implements DataSource {
    private final Duration pause;
    private final DataSource driver;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean hasConnected;
    private volatile @Nullable SQLException failure;

    Source(Duration pause, DataSource driver) {
      this.pause = pause;
      this.driver = driver;
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
      return driver.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
      return driver.isWrapperFor(type);
    }
  }
}
