package dev.holdfast.app.config;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.DriverDataSource;
import dev.holdfast.ReconnectingDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import javax.sql.DataSource;

/** A pool that has a connection soon after an outage, and says meanwhile what the cause is. */
final class ReconnectingPool extends HikariDataSource {
  private final ReconnectingDataSource source;

  private ReconnectingPool(HikariConfig config, ReconnectingDataSource source) {
    super(config);
    this.source = source;
  }

  /**
   * @param config with the URL, the user and the properties of the driver
   */
  static ReconnectingPool of(HikariConfig config) {
    return of(config, ReconnectingDataSource.of(driver(config)));
  }

  static ReconnectingPool of(HikariConfig config, Duration pause) {
    return of(config, ReconnectingDataSource.of(driver(config), pause));
  }

  private static ReconnectingPool of(HikariConfig config, ReconnectingDataSource source) {
    config.setDataSource(source);
    return new ReconnectingPool(config, source);
  }

  private static DataSource driver(HikariConfig config) {
    return new DriverDataSource(
        config.getJdbcUrl(),
        config.getDriverClassName(),
        config.getDataSourceProperties(),
        config.getUsername(),
        config.getPassword());
  }

  /** During an outage the exception has its cause, which HikariCP is not told. */
  @Override
  public Connection getConnection() throws SQLException {
    try {
      return super.getConnection();
    } catch (SQLTransientConnectionException timeout) {
      SQLException failure = source.failure();
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
    source.close();
    super.close();
  }
}
