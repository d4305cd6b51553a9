package dev.holdfast.queue.jdbc;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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

  @Test
  void a_cancelled_commit_is_not_acknowledged_before_its_synchronous_standby_has_it()
      throws Exception {
    Path folder = Processes.freshFolder();
    StatementLimit limit = new StatementLimit(SHORT, SHORT);
    Map<String, String> replicated = Map.of("synchronous_standby_names", "missing");
    try (EmbeddedPostgres server =
            EmbeddedPostgres.start(TestServer.options(folder).settings(replicated));
        Connection writer = connect(server, "");
        Connection other = connect(server, "?options=-c%20synchronous_commit=local")) {
      Sql.of("CREATE TABLE public.x (n int)").on(other).update();
      CompletableFuture<Void> acknowledged =
          CompletableFuture.runAsync(() -> insert(writer, limit));
      await().atMost(SOON).until(() -> Sql.of("SELECT n FROM public.x").on(other).found());
      await().during(Duration.ofMillis(500)).until(() -> !acknowledged.isDone());

      Sql.of("ALTER SYSTEM SET synchronous_standby_names = ''").on(other).update();
      Sql.of("SELECT pg_reload_conf()").on(other).found();
      acknowledged.get(SOON.toSeconds(), TimeUnit.SECONDS);
    } finally {
      Processes.delete(folder);
    }
  }

  private static Connection connect(EmbeddedPostgres server, String options) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres" + options,
        server.user(),
        server.password());
  }

  private static void insert(Connection connection, StatementLimit limit) {
    try (StatementLimit.Limited statement =
        limit.on(Rows.prepare(connection, "INSERT INTO public.x VALUES (?)", new Object[] {1}))) {
      statement.jdbc().execute();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
