package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.pool.HikariPool;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class ReconnectingPoolTest {
  private static final Duration PAUSE = Duration.ofMillis(20);

  /** HikariCP alone, whose pauses become five seconds long, tries 32 times within two minutes. */
  private static final int TRIES = 50;

  private FaultProxy proxy;
  private HikariConfig config;

  @BeforeEach
  void open(TestDatabase database) {
    proxy = FaultProxy.before(database);
    config = new HikariConfig();
    config.setJdbcUrl(proxy.url(database));
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setConnectionTimeout(1_000);
    config.setMinimumIdle(1);
  }

  @AfterEach
  void close() {
    proxy.close();
  }

  /** Ends when the pool knows of it: a connection that was idle looks as good as ever. */
  private void outage(ReconnectingPool pool) {
    proxy.turnAway();
    Eventually.until(
        () -> {
          try (Connection connection = pool.getConnection();
              Statement statement = connection.createStatement()) {
            return !statement.execute("SELECT 1");
          } catch (SQLException broken) {
            return true;
          }
        });
  }

  @Test
  void a_long_outage_does_not_make_the_pauses_between_tries_longer() throws Exception {
    try (ReconnectingPool pool = ReconnectingPool.of(config, PAUSE)) {
      outage(pool);
      Eventually.until(() -> proxy.turnedAway() >= TRIES);
      proxy.mend();
      try (Connection connection = pool.getConnection()) {
        assertThat(connection.isValid(5)).isTrue();
      }
    }
  }

  @Test
  void who_waits_for_a_connection_during_an_outage_is_told_its_cause() throws Exception {
    try (ReconnectingPool pool = ReconnectingPool.of(config, PAUSE)) {
      outage(pool);
      assertThatThrownBy(pool::getConnection)
          .isInstanceOf(SQLTransientConnectionException.class)
          .hasMessageContaining("Connection is not available")
          .cause()
          .isInstanceOfSatisfying(
              SQLException.class,
              // Not that of a connection that was broken by it, 08003.
              cause -> assertThat(cause.getSQLState()).isIn("08001", "08006"));
    }
  }

  @Test
  void a_pool_that_is_closed_during_an_outage_does_not_wait_for_its_end() throws Exception {
    try (CapturedLog log = CapturedLog.of("com.zaxxer.hikari.pool.HikariPool")) {
      try (ReconnectingPool pool = ReconnectingPool.of(config, Duration.ofHours(1))) {
        outage(pool);
        assertThatThrownBy(pool::getConnection).isInstanceOf(SQLException.class);
      }
      assertThat(proxy.turnedAway()).isPositive();
      assertThat(log.lines(Level.WARN, "shutdown")).isEmpty();
    }
  }

  @Test
  void a_server_that_is_not_there_at_the_start_is_an_error_at_once() {
    proxy.turnAway();
    assertThatThrownBy(() -> ReconnectingPool.of(config, Duration.ofHours(1)).close())
        .isInstanceOf(HikariPool.PoolInitializationException.class);
    assertThat(proxy.turnedAway()).isPositive();
  }
}
