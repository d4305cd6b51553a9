package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.command.Cancel;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which errors of PostgreSQL are retried, and how they are reported. */
class SqlErrorsTest extends QueueFixture {
  private final AtomicInteger tries = new AtomicInteger();

  private static DataSource poolWith(String option) {
    return db.dataSource(db.url() + "?options=-c%20" + option, 4);
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void terminateAll() {
    db.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = ? AND pid <> pg_backend_pid()",
        db.name());
  }

  private static void fail(Database database, String state, AtomicInteger counting) {
    database.run(
        "verb",
        connection -> {
          counting.incrementAndGet();
          throw new SQLException("on purpose", state);
        });
  }

  @Test
  void a_deadlock_is_retried() throws SQLException {
    Job parent = job();
    Job child = job().parent(parent.id());
    queue.enqueue(List.of(parent, child));
    // The server checks a lock wait for a deadlock once, after this time: by then the cycle below
    // must be complete. It is also longer than any timeout for a server that does not answer.
    Database database = Database.pooled(poolWith("deadlock_timeout=6s"), StatementObserver.NONE, 4);
    try (ExecutorService pool = Executors.newSingleThreadExecutor();
        Connection other = db.connection()) {
      // The verb locks parent and child in this order; the other one begins at the end.
      execute(other, "SET deadlock_timeout = '60s'");
      other.setAutoCommit(false);
      execute(other, "SELECT FROM holdfast.job WHERE id = '" + child.id() + "' FOR UPDATE");
      Future<List<Cancellation>> verb =
          pool.submit(
              () ->
                  database.run(
                      "cancel",
                      connection -> {
                        tries.incrementAndGet();
                        return Cancel.of(connection, List.of(parent.id(), child.id()), "x");
                      }));
      awaitLockWait();
      execute(other, "SELECT FROM holdfast.job WHERE id = '" + parent.id() + "' FOR UPDATE");
      other.commit();
      assertThat(Parallel.get(verb)).hasSize(2);
    }
    assertThat(tries.get()).isBetween(2, 3);
    assertThat(count(JobState.CANCELLED)).isEqualTo(2);
  }

  @Test
  void a_serialization_failure_is_retried() throws SQLException {
    JobId job = add(job());
    Database database =
        Database.pooled(
            poolWith("default_transaction_isolation=serializable"), StatementObserver.NONE, 4);
    try (ExecutorService pool = Executors.newSingleThreadExecutor();
        Connection other = db.connection()) {
      other.setAutoCommit(false);
      execute(other, "UPDATE holdfast.job SET priority = 1");
      Future<List<Cancellation>> verb =
          pool.submit(
              () ->
                  database.run(
                      "cancel",
                      connection -> {
                        tries.incrementAndGet();
                        return Cancel.of(connection, List.of(job), "x");
                      }));
      awaitLockWait();
      other.commit();
      assertThat(Parallel.get(verb)).hasSize(1);
    }
    assertThat(tries).hasValue(2);
    assertThat(state(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void transient_errors_are_retried_a_bounded_number_of_times() {
    List<String> states = List.of("40001", "40P01", "08006", "57P01", "57P03", "53300", "25006");
    Database database = Database.pooled(db.dataSource(), StatementObserver.NONE, states.size());
    List<Integer> tried =
        Parallel.run(
            states.size(),
            i ->
                () -> {
                  AtomicInteger mine = new AtomicInteger();
                  assertThatThrownBy(() -> fail(database, states.get(i), mine))
                      .isInstanceOf(DatabaseException.class)
                      .hasMessage("verb: on purpose")
                      .satisfies(
                          thrown ->
                              assertThat(((DatabaseException) thrown).isTransient()).isTrue());
                  return mine.get();
                });
    assertThat(tried).containsOnly(5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"40001", "40P01", "57014", "55P03"})
  void a_conflict_with_another_transaction_is_not_an_outage(String state) {
    DatabaseException busy =
        (DatabaseException) SqlErrors.thrown("verb", new SQLException("on purpose", state));
    assertThat(busy.isTransient()).isTrue();
    assertThat(busy.isBusy()).isTrue();
    assertThat(busy.isOutage()).isFalse();
  }

  @Test
  void a_pool_timeout_is_not_an_outage() {
    DatabaseException busy =
        new DatabaseException(DatabaseException.Reason.UNAVAILABLE, "none became free", null);
    assertThat(busy.isOutage()).isFalse();
    assertThat(busy.isBusy()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"08006", "57P01", "57P03", "53300"})
  void a_server_that_does_not_answer_is_an_outage(String state) {
    DatabaseException away =
        (DatabaseException) SqlErrors.thrown("verb", new SQLException("on purpose", state));
    assertThat(away.isOutage()).isTrue();
    assertThat(away.isBusy()).isFalse();
  }

  @Test
  void a_migration_conflict_is_not_reported_as_a_lost_connection() {
    assertThat(SqlErrors.ofMigration(new SQLException("deadlock detected", "40P01")))
        .hasMessageContaining("another transaction blocked the migration")
        .hasMessageContaining("deadlock detected");
    assertThat(SqlErrors.ofMigration(new SQLException("gone", "08006")))
        .hasMessageContaining("the connection was lost");
  }

  @ParameterizedTest
  @ValueSource(strings = {"23505", "42501", "XX000", "57014", "28P01"})
  void other_errors_are_not_retried(String state) {
    Database database = Database.pooled(db.dataSource(), StatementObserver.NONE, 1);
    assertThatThrownBy(() -> fail(database, state, tries)).isInstanceOf(DatabaseException.class);
    assertThat(tries).hasValue(1);
  }

  @Test
  void every_verb_is_observed_with_its_error() {
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    try (JobStore observed =
        new JobStore(
            db.empty().dataSource(),
            new JacksonCodec(),
            new JobStore.Options(
                2, (verb, took, error) -> seen.add(verb + " " + (error != null))))) {
      assertThatThrownBy(() -> observed.queries().find(JobId.next()))
          .isInstanceOf(DatabaseException.class);
    }
    assertThat(seen).containsExactly("find true");
  }

  @Test
  void verbs_work_after_all_connections_were_terminated() throws SQLException {
    Lease lease = running();
    killAllConnections();
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.ACCEPTED);
    killAllConnections();
    assertThat(queue.enqueue(job().uniqueKey("k")).duplicate()).isFalse();
    assertThat(queries.find(lease.job())).isPresent();
  }

  /** The pool has validated all its connections recently, so it does not do so again. */
  private void killAllConnections() throws SQLException {
    List<Connection> all = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      all.add(db.dataSource().getConnection());
    }
    for (Connection connection : all) {
      connection.close();
    }
    terminateAll();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{oops", "\"\\u0000\"", "{\"half\": \"\\ud83d\"}", ""})
  void a_result_that_is_not_json_is_refused_and_nothing_changes(String text) throws SQLException {
    Lease bad = running();
    Lease good = running();
    String before = row(bad.job());
    assertRefused(
        Refusal.RESULT_NOT_JSON,
        () -> queue.settle(List.of(succeed(good), new Settlement.Succeed(bad, new Json(text)))));
    assertRefused(
        Refusal.RESULT_NOT_JSON, () -> queue.settle(new Settlement.Cancel(bad, new Json(text))));
    try (Connection connection = db.connection()) {
      assertRefused(
          Refusal.RESULT_NOT_JSON,
          () -> queue.succeed(connection, new Settlement.Succeed(bad, new Json(text))));
    }
    assertThat(row(bad.job())).isEqualTo(before);
    assertThat(state(good.job())).isEqualTo(JobState.RUNNING);
    assertThat(queue.settle(succeed(bad))).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_result_is_stored_and_may_be_absent() {
    Lease lease = running();
    Json result = new Json("{\"rows\": [1, null, \"ü\"]}");
    queue.settle(new Settlement.Succeed(lease, result));
    assertThat(queries.find(lease.job()).orElseThrow().result()).isEqualTo(result);
    Lease other = running();
    queue.settle(new Settlement.Succeed(other, null));
    assertThat(queries.find(other.job()).orElseThrow().result()).isNull();
  }

  @Test
  void an_interrupted_caller_gets_an_exception_and_stays_interrupted() {
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> queries.find(JobId.next()))
          .isInstanceOf(DatabaseException.class)
          .satisfies(
              thrown ->
                  assertThat(((DatabaseException) thrown).reason())
                      .isEqualTo(DatabaseException.Reason.INTERRUPTED));
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }
}
