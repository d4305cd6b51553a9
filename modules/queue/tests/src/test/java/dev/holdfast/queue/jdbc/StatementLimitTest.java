package dev.holdfast.queue.jdbc;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.queue.QueueFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class StatementLimitTest extends QueueFixture {
  private static final Duration SHORT = Duration.ofMillis(20);

  private static StatementLimit.Limited sleep(
      Connection connection, StatementLimit limit, double seconds) throws SQLException {
    return limit.on(Rows.prepare(connection, "SELECT pg_sleep(?)", new Object[] {seconds}));
  }

  @Test
  void a_statement_over_the_limit_is_cancelled_and_its_connection_stays_usable()
      throws SQLException {
    StatementLimit limit = new StatementLimit(SHORT, SHORT);
    try (Connection connection = db.connection()) {
      try (StatementLimit.Limited endless = sleep(connection, limit, 3_600)) {
        assertThatThrownBy(() -> endless.jdbc().executeQuery())
            .isInstanceOfSatisfying(
                SQLException.class, late -> assertThat(SqlErrors.isTimeLimit(late)).isTrue());
      }
      assertThat(Sql.of("SELECT 1").on(connection).found()).isTrue();
    }
  }

  @Test
  void its_watcher_runs_only_while_statements_are_open() throws SQLException {
    StatementLimit limit = new StatementLimit(Duration.ofHours(1), SHORT);
    try (Connection connection = db.connection()) {
      for (int i = 0; i < 3; i++) {
        try (StatementLimit.Limited statement = sleep(connection, limit, 0)) {
          statement.jdbc().execute();
          assertThat(limit.isLooking()).isTrue();
        }
        await().atMost(SOON).until(() -> !limit.isLooking());
      }
    }
  }
}
