package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.lease.Heartbeat;
import dev.holdfast.queue.recover.Expire;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.report.AppendEvents;
import dev.holdfast.queue.settle.Fail;
import dev.holdfast.queue.settle.ReleaseAttempts;
import dev.holdfast.queue.settle.Succeed;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deadlocks, serialization failures, lost connections and data that cannot be stored. */
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

  @Test
  void a_deadlock_is_tried_again() throws SQLException {
    Job parent = job();
    Job child = job().parent(parent.id());
    queue.enqueue(List.of(parent, child));
    // A wait is looked at once, after this time: by then the circle below must have closed. It is
    // also longer than anybody waits for a server that does not answer.
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
                        return Cancel.of(connection, List.of(parent.id()), true, "x", GRACE, null);
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
  void a_serialization_failure_is_tried_again() throws SQLException {
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
                        return Cancel.of(connection, List.of(job), false, "x", GRACE, null);
                      }));
      awaitLockWait();
      other.commit();
      assertThat(Parallel.get(verb)).hasSize(1);
    }
    assertThat(tries).hasValue(2);
    assertThat(state(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void trouble_that_passes_is_tried_a_bounded_number_of_times() {
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
                          thrown -> assertThat(((DatabaseException) thrown).mayPass()).isTrue());
                  return mine.get();
                });
    assertThat(tried).containsOnly(5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"40001", "40P01", "57014", "55P03"})
  void others_in_the_way_are_no_outage(String state) {
    DatabaseException busy =
        (DatabaseException) SqlErrors.thrown("verb", new SQLException("on purpose", state));
    assertThat(busy.mayPass()).isTrue();
    assertThat(busy.isBusy()).isTrue();
    assertThat(busy.isOutage()).isFalse();
  }

  @Test
  void a_connection_that_did_not_become_free_is_no_outage() {
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
  void a_migration_that_lost_a_conflict_did_not_lose_its_connection() {
    assertThat(SqlErrors.ofMigration(new SQLException("deadlock detected", "40P01")))
        .hasMessageContaining("another transaction was in the way")
        .hasMessageContaining("deadlock detected");
    assertThat(SqlErrors.ofMigration(new SQLException("gone", "08006")))
        .hasMessageContaining("the connection was lost");
  }

  private static void fail(Database database, String state, AtomicInteger counting) {
    database.run(
        "verb",
        connection -> {
          counting.incrementAndGet();
          throw new SQLException("on purpose", state);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"23505", "42501", "XX000", "57014", "28P01"})
  void other_trouble_is_not_tried_again(String state) {
    Database database = Database.pooled(db.dataSource(), StatementObserver.NONE, 1);
    assertThatThrownBy(() -> fail(database, state, tries)).isInstanceOf(DatabaseException.class);
    assertThat(tries).hasValue(1);
  }

  @Test
  void every_verb_is_observed_with_its_trouble() {
    List<String> seen = Collections.synchronizedList(new ArrayList<>());
    try (Queue observed =
        new Queue(
            db.empty().dataSource(),
            new JacksonCodec(),
            new Queue.Options(
                2, (verb, took, trouble) -> seen.add(verb + " " + (trouble != null))))) {
      assertThatThrownBy(() -> observed.queries().find(JobId.next()))
          .isInstanceOf(DatabaseException.class);
    }
    assertThat(seen).containsExactly("find true");
  }

  @Test
  void settling_overlapping_batches_in_opposite_orders_never_deadlocks() {
    for (int round = 0; round < 200; round++) {
      queue.enqueue(jobs(20));
      List<Lease> there = claim(20).stream().map(LeasedJob::lease).toList();
      List<Lease> back = new ArrayList<>(there);
      Collections.reverse(back);
      int kind = round % 3;
      // On connections of their own, because the queue would try again after a deadlock.
      List<Set<Lease>> settled =
          Parallel.run(
              4,
              i ->
                  () -> {
                    try (Connection connection = db.dataSource().getConnection()) {
                      return switch (i) {
                        case 3 -> {
                          List<JobId> jobs =
                              (kind == 0 ? there : back).stream().map(Lease::job).toList();
                          Cancel.of(connection, jobs, kind == 1, "enough", GRACE, null);
                          yield Set.of();
                        }
                        case 0 ->
                            Succeed.all(
                                connection, there.stream().map(QueueFixture::succeed).toList());
                        case 1 ->
                            kind == 0
                                ? Fail.all(
                                    connection,
                                    BACKOFF,
                                    back.stream().map(l -> fail(l, HOPELESS)).toList())
                                : ReleaseAttempts.cancelled(
                                    connection,
                                    back.stream()
                                        .map(l -> new Settlement.Cancel(l, null))
                                        .toList());
                        default -> {
                          Heartbeat.of(connection, back, LEASE);
                          AppendEvents.all(
                              connection,
                              back.stream()
                                  .map(l -> (Report) new Report.Progress(l, 50, null))
                                  .toList());
                          yield Set.of();
                        }
                      };
                    }
                  });
      Set<Lease> all = new HashSet<>(settled.get(0));
      all.addAll(settled.get(1));
      assertThat(all).hasSize(20);
      assertThat(Collections.disjoint(settled.get(0), settled.get(1))).isTrue();
    }
    assertThat(count(JobState.RUNNING)).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(4_000);
  }

  @Test
  void sweeps_settles_cancels_and_heartbeats_side_by_side_never_fail() {
    queue.enqueue(jobs(400).stream().map(job -> job.maxAttempts(1_000).maxCrashes(1_000)).toList());
    Parallel.run(
        6,
        i ->
            () -> {
              for (int n = 0; n < 30; n++) {
                try (Connection connection = db.dataSource().getConnection()) {
                  switch (i) {
                    case 0 -> Reap.lost(connection, Duration.ZERO, 50);
                    case 1 -> Expire.late(connection, Duration.ZERO, 50);
                    case 2 -> {
                      for (LeasedJob job : queue.claim(QUEUE, 20, "a", Duration.ZERO).jobs()) {
                        Cancel.of(connection, List.of(job.id()), true, "x", GRACE, null);
                      }
                    }
                    case 3 -> Retry.all(connection, ids(JobState.CANCELLED), null);
                    default -> {
                      List<Lease> leases =
                          queue.claim(QUEUE, 20, "b" + i, Duration.ofMillis(1)).jobs().stream()
                              .map(LeasedJob::lease)
                              .toList();
                      Heartbeat.of(connection, leases, Duration.ofMillis(1));
                      Fail.all(
                          connection, BACKOFF, leases.stream().map(l -> fail(l, FLAKY)).toList());
                    }
                  }
                }
              }
              return true;
            });
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(400);
    assertThat(
            db.count(
                "SELECT count(*) FROM (SELECT FROM holdfast.event"
                    + " GROUP BY job_id HAVING max(number) > (SELECT event_count FROM holdfast.job"
                    + " WHERE id = job_id)) AS beyond"))
        .isZero();
  }

  private List<JobId> ids(JobState state) {
    return queries.list(JobFilter.ALL.states(Set.of(state))).stream().map(job -> job.id()).toList();
  }

  @Test
  void verbs_outlive_the_death_of_all_connections() throws SQLException {
    Lease lease = running();
    killAllConnections();
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.ACCEPTED);
    killAllConnections();
    assertThat(queue.enqueue(job().uniqueKey("k")).duplicate()).isFalse();
    assertThat(queries.find(lease.job())).isPresent();
  }

  /** The pool is full of connections that were good a moment ago, so it will not look at them. */
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
  void a_result_is_stored_and_may_be_nothing_at_all() {
    Lease lease = running();
    Json result = new Json("{\"rows\": [1, null, \"ü\"]}");
    queue.settle(new Settlement.Succeed(lease, result));
    assertThat(queries.find(lease.job()).orElseThrow().result()).isEqualTo(result);
    Lease other = running();
    queue.settle(new Settlement.Succeed(other, null));
    assertThat(queries.find(other.job()).orElseThrow().result()).isNull();
  }

  @Test
  void an_interrupted_caller_is_told_and_stays_interrupted() {
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

  @Test
  void a_hundred_threads_share_two_connections_and_none_starves() {
    try (Queue small =
        new Queue(
            db.dataSource(db.url(), 3),
            new JacksonCodec(),
            new Queue.Options(2, StatementObserver.NONE))) {
      List<Integer> done =
          Parallel.run(
              100,
              i ->
                  () -> {
                    for (int n = 0; n < 5; n++) {
                      small.jobs().enqueue(job());
                    }
                    return 5;
                  });
      assertThat(done).hasSize(100);
    }
    assertThat(count(JobState.PENDING)).isEqualTo(500);
  }
}
