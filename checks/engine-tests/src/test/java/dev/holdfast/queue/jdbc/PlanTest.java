package dev.holdfast.queue.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.OnConnection;
import dev.holdfast.queue.lease.Heartbeat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Finished jobs cost nothing: with 20,000 of them no verb reads the table from end to end, neither
 * with good statistics nor with stale ones.
 */
class PlanTest extends QueueFixture {
  /** The only connection, so that it can be made to flush its statistics at once. */
  private final DataSource single = db.dataSource(db.url(), 1);

  private final JobStore planned =
      new JobStore(single, new JacksonCodec(), new JobStore.Options(1, StatementObserver.NONE));

  /** A vacuum of the server in between would count as a reader, and bring good statistics. */
  @BeforeEach
  void keepAutovacuumAway() {
    db.sql("ALTER TABLE holdfast.job SET (autovacuum_enabled = off)");
    db.sql("ALTER INDEX holdfast.job_finished SET (autosummarize = off)");
  }

  @AfterEach
  void closePlanned() {
    planned.close();
  }

  private long counter(String sql) {
    db.query("SELECT pg_stat_force_next_flush()");
    try (Connection connection = single.getConnection()) {
      Sql.of("SELECT pg_stat_force_next_flush()").on(connection).list(row -> "");
      return Sql.of(sql).on(connection).only(row -> row.getLong(1));
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private long wholeReads() {
    return counter(
        "SELECT seq_scan FROM pg_stat_user_tables WHERE relid = 'holdfast.job'::regclass");
  }

  private long scansOf(String index) {
    return counter(
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '" + index + "'");
  }

  private long readFrom(String index) {
    return counter(
        "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = '" + index + "'");
  }

  private static void addFinished() {
    db.sql(
        """
        INSERT INTO holdfast.job (id, queue, kind, state, priority, run_at, created_at, attempt,
               max_attempts, max_crashes, worker_id, started_at, started_event_number, event_count, finished_at,
               tenant, workspace, run_id, run_key, payload)
        SELECT id, 'default', 'test',
               CASE WHEN n % 100 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 5, now(), now(), 1,
               3, 2, 'w', now(), 2, 3, now() - n * interval '1 second',
               'default', 'default', id, 'test', '{}'
          FROM (SELECT n, gen_random_uuid() AS id FROM generate_series(1, 20000) AS n) AS numbered
        """);
    db.sql("SELECT brin_summarize_new_values('holdfast.job_finished')");
  }

  private void addSome() {
    planned.jobs().enqueue(jobs(50));
    planned
        .jobs()
        .enqueue(
            IntStream.range(0, 50).mapToObj(i -> job().concurrencyKey("k" + i % 10, 2)).toList());
    planned.jobs().enqueue(jobs(20).stream().map(job -> job.delay(Duration.ofHours(1))).toList());
    planned.jobs().enqueue(jobs(20).stream().map(job -> job.run(JobId.next(), "r")).toList());
  }

  @Test
  void a_claim_uses_its_index_and_reads_no_more_rows_than_it_claims() {
    addFinished();
    planned.jobs().enqueue(jobs(500));
    db.sql("ANALYZE holdfast.job");
    long scans = scansOf("job_claim");
    long read = readFrom("job_claim");
    long whole = wholeReads();
    assertThat(planned.jobs().claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE)).jobs()).hasSize(10);
    assertThat(scansOf("job_claim")).isGreaterThan(scans);
    assertThat(readFrom("job_claim") - read).isLessThan(50);
    assertThat(wholeReads()).isEqualTo(whole);
  }

  @Test
  void no_verb_reads_the_whole_table() {
    addFinished();
    addSome();
    db.sql("ANALYZE holdfast.job");
    assertNobodyReadsTheWholeTable(true);
  }

  @Test
  void no_verb_reads_the_whole_table_with_stale_statistics() {
    // When the statistics were taken, every job was unfinished, half of them had keys and half ran.
    planned.jobs().enqueue(jobs(1_000));
    planned
        .jobs()
        .enqueue(
            IntStream.range(0, 1_000).mapToObj(i -> job().concurrencyKey("k" + i, 1)).toList());
    planned.jobs().claim(new ClaimRequest(QUEUE, 1_000, WORKER, LEASE));
    assertThat(planned.jobs().heldBy(WORKER)).hasSize(1_000);
    db.sql("ANALYZE holdfast.job");
    db.sql(
        "UPDATE holdfast.job SET state = 'SUCCEEDED', finished_at = now(), heartbeat_at = NULL,"
            + " lease_expires_at = NULL");
    addFinished();
    // Not retention: its small index is only as good as the statistics, and it is in no hurry.
    assertNobodyReadsTheWholeTable(false);
    addSome();
    assertNobodyReadsTheWholeTable(false);
  }

  private void assertNobodyReadsTheWholeTable(boolean notEvenRetention) {
    JobId somebody = planned.jobs().enqueue(job().queue("elsewhere")).id();
    Map<String, Consumer<JobStore>> verbs = new LinkedHashMap<>();
    verbs.put("enqueue", q -> q.jobs().enqueue(jobs(3)));
    verbs.put("enqueue unique", q -> q.jobs().enqueue(job().uniqueKey("k")));
    verbs.put("enqueue after", q -> q.jobs().enqueue(job().dependsOn(somebody)));
    verbs.put("claim", q -> q.jobs().claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE)));
    verbs.put("claim nothing", q -> q.jobs().claim(new ClaimRequest("empty", 10, WORKER, LEASE)));
    verbs.put("held", q -> q.jobs().heldBy(WORKER));
    verbs.put("settle", q -> q.jobs().settle(endings(q)));
    verbs.put("cancel", q -> q.jobs().cancel(List.of(somebody), true, "x", Tenant.ANY));
    verbs.put("retry", q -> q.jobs().retry(List.of(somebody), Tenant.ANY));
    verbs.put("reap", q -> q.maintenance().reap(Duration.ZERO));
    verbs.put("expire", q -> q.maintenance().expire());
    verbs.put("promote", q -> q.maintenance().promote());
    if (notEvenRetention) {
      verbs.put("retain", q -> q.maintenance().retain(JobState.SUCCEEDED, Duration.ofDays(7)));
    }
    verbs.put("depth", q -> q.queries().depth(List.of(QUEUE, "mail"), 1_000, Tenant.ANY));
    verbs.put("queues", q -> q.admin().queues(Tenant.ANY));
    verbs.put(
        "finished", q -> q.queries().finished(q.queries().now().minusSeconds(60), Tenant.ANY));
    verbs.put(
        "finished of a tenant",
        q -> q.queries().finished(q.queries().now().minusSeconds(60), Tenant.of("default")));
    verbs.put("sum up history", PlanTest::sumUpAMinute);
    verbs.put("history", q -> q.queries().history(anHour(null)));
    verbs.put("history of a tenant", q -> q.queries().history(anHour("default")));
    verbs.put("schedules", q -> q.admin().schedules());
    verbs.put("holders", q -> q.queries().holders(Tenant.ANY, 10, 10));
    verbs.put("glimpse", q -> q.queries().changes(glance(q, somebody, null)));
    verbs.put("glimpse of a tenant", q -> q.queries().changes(glance(q, somebody, "default")));
    verbs.put("find", q -> q.queries().find(somebody));
    verbs.put("timeline", q -> q.queries().timeline(somebody));
    verbs.put("attempts", q -> q.queries().attempts(somebody));
    verbs.put("list", q -> q.queries().list(JobFilter.ALL));
    verbs.put("list oldest", q -> q.queries().page(JobFilter.ALL.oldestFirst(true)));
    verbs.put(
        "list failed, oldest first",
        q -> q.queries().page(JobFilter.ALL.states(Set.of(JobState.FAILED)).oldestFirst(true)));
    verbs.put(
        "list of an age",
        q -> q.queries().page(JobFilter.ALL.from(JobCursor.at(q.queries().now().minusSeconds(1)))));
    verbs.put("counts", q -> q.queries().counts(JobFilter.ALL.queue(QUEUE)));
    verbs.put("runs", q -> q.queries().runs(Tenant.ANY, null, 10));
    verbs.put("runs of a tenant", q -> q.queries().runs(Tenant.of("default"), null, 10));
    verbs.put("list failed", q -> q.queries().list(JobFilter.ALL.states(Set.of(JobState.FAILED))));
    // More than once, since the server may replan a prepared statement after some executions.
    for (int round = 0; round < 3; round++) {
      verbs.forEach(
          (name, verb) -> {
            long before = wholeReads();
            verb.accept(planned);
            assertThat(wholeReads()).as("whole reads of %s", name).isEqualTo(before);
          });
    }
  }

  private static JobHistory.Query anHour(@Nullable String tenant) {
    return new JobHistory.Query(Duration.ofHours(1), QUEUE, null, Tenant.of(tenant));
  }

  private static void sumUpAMinute(JobStore q) {
    db.sql("TRUNCATE holdfast.history, holdfast.history_cursor");
    db.sql(
        "INSERT INTO holdfast.history_cursor (known_since, summed_until, marked_at, marked_xid)"
            + " SELECT at, at, now(), '3' FROM (SELECT date_trunc('minute', now()) - interval '3 min' AS at)"
            + " AS cursor");
    q.maintenance().sumUpHistory();
    assertThat(db.count("SELECT sum(succeeded) FROM holdfast.history")).isPositive();
  }

  private static ChangedJob glance(JobStore q, JobId known, @Nullable String tenant) {
    return new ChangedJob(q.queries().now().minusSeconds(5), List.of(known), Tenant.of(tenant), 10);
  }

  /** One of each kind, and a report. */
  private static List<Settlement> endings(JobStore q) {
    List<Lease> leases =
        q.jobs().claim(new ClaimRequest(QUEUE, 5, WORKER, LEASE)).jobs().stream()
            .map(LeasedJob::lease)
            .toList();
    q.jobs()
        .report(
            leases.stream().map(lease -> (Report) new Report.Progress(lease, 1, null)).toList());
    return IntStream.range(0, leases.size())
        .<Settlement>mapToObj(
            i ->
                switch (i) {
                  case 0 -> succeed(leases.get(i));
                  case 1 -> fail(leases.get(i), FLAKY);
                  case 2 -> new Settlement.Cancel(leases.get(i), null);
                  case 3 -> new Settlement.Snooze(leases.get(i), Duration.ofHours(1));
                  default -> new Settlement.Release(leases.get(i), false);
                })
        .toList();
  }

  @Test
  void reports_and_settles_do_not_scan_the_index_of_running_jobs() {
    addFinished();
    planned.jobs().enqueue(jobs(1_000));
    db.sql("ANALYZE holdfast.job"); // in an hour in which nothing ran
    List<Lease> running =
        planned.jobs().claim(new ClaimRequest(QUEUE, 990, WORKER, LEASE)).jobs().stream()
            .map(LeasedJob::lease)
            .toList();
    Lease one = running.getFirst();
    Map<String, Consumer<JobStore>> verbs = new LinkedHashMap<>();
    verbs.put("progress", q -> q.jobs().report(List.of(new Report.Progress(one, 1, null))));
    verbs.put("log", q -> q.jobs().report(List.of(new Report.Log(one, 1, "a line"))));
    verbs.put(
        "publish",
        q ->
            q.jobs()
                .publish(
                    new Publication(
                        one, "store", List.of(new Artifact("a", 1, "0".repeat(64))), null)));
    verbs.put("settle", q -> q.jobs().settle(endings(q)));
    verbs.put("complete", PlanTest::completeOne);
    for (int round = 0; round < 3; round++) {
      verbs.forEach(
          (name, verb) -> {
            long before = readFrom("job_running");
            verb.accept(planned);
            assertThat(readFrom("job_running") - before)
                .as("running jobs read by %s", name)
                .isLessThan(running.size());
          });
    }
  }

  private static void completeOne(JobStore q) {
    Lease lease =
        q.jobs().claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).jobs().getFirst().lease();
    Completion failed =
        new Completion(fail(lease, FLAKY), "FAILED", "digest", WORKER, null, null, null, null);
    assertThat(q.jobs().complete(failed)).isInstanceOf(Completion.Verdict.Accepted.class);
  }

  @Test
  void settling_a_batch_does_not_scan_the_index_of_finished_jobs() {
    addFinished();
    db.sql("ANALYZE holdfast.job");
    try (JobStore batching =
        new JobStore(
            single, new JacksonCodec(), JobStore.Options.DEFAULT.connections(1).batchFrom(0))) {
      planned.jobs().enqueue(jobs(100));
      List<Settlement> all =
          batching
              .jobs()
              .claim(new ClaimRequest(QUEUE, 100, WORKER, LEASE).inBatches())
              .jobs()
              .stream()
              .<Settlement>map(leased -> succeed(leased.lease()))
              .toList();
      long scans = scansOf("job_finished");
      assertThat(batching.jobs().settle(all)).hasSize(100);
      assertThat(scansOf("job_finished")).isEqualTo(scans);
    }
  }

  @Test
  void completions_use_a_generic_plan() {
    planned.jobs().enqueue(jobs(20));
    for (int i = 0; i < 20; i++) {
      completeOne(planned);
    }
    String kept =
        " FROM pg_prepared_statements WHERE statement LIKE 'WITH failed%unnest%holdfast.attempt%'";
    assertThat(counter("SELECT coalesce(sum(generic_plans), 0)" + kept)).isPositive();
    assertThat(counter("SELECT coalesce(sum(custom_plans), 0)" + kept)).isZero();
  }

  @Test
  void a_heartbeat_finds_its_rows_by_their_ids() throws SQLException {
    addFinished();
    List<Job> some = jobs(20);
    planned.jobs().enqueue(some);
    List<Lease> leases =
        planned.jobs().claim(new ClaimRequest(QUEUE, 20, WORKER, LEASE)).jobs().stream()
            .map(LeasedJob::lease)
            .toList();
    db.sql("ANALYZE holdfast.job");
    try (Connection connection = single.getConnection()) {
      connection.setAutoCommit(false);
      OnConnection.heartbeat(connection, leases, LEASE);
      OnConnection.heartbeat(
          connection,
          Heartbeat.of(leases, Map.of(leases.getFirst(), "w9")),
          Heartbeat.LOCK_TIMEOUT);
      Heartbeat.commands(connection, WORKER);
      assertThat(
              Sql.of(
                      "SELECT seq_scan FROM pg_stat_xact_user_tables"
                          + " WHERE relid = 'holdfast.job'::regclass")
                  .on(connection)
                  .list(row -> row.getLong("seq_scan")))
          .containsExactly(0L);
      connection.rollback();
    }
  }

  @Test
  void a_key_with_very_many_jobs_costs_a_claim_no_more_than_one_with_few() {
    db.sql(
        """
        INSERT INTO holdfast.job (id, queue, kind, state, priority, run_at, created_at, max_attempts,
               max_crashes, tenant, workspace, run_id, run_key, payload, concurrency_key,
               concurrency_limit)
        SELECT gen_random_uuid(), 'default', 'test', 'PENDING', 5, now(), now(), 3, 2, 'default',
               'default', gen_random_uuid(), 'test', '{}', 'full', 1
          FROM generate_series(1, 20000) AS n
        """);
    assertThat(planned.jobs().claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).jobs()).hasSize(1);
    JobId other = planned.jobs().enqueue(job().concurrencyKey("other", 1)).id();
    db.sql("ANALYZE holdfast.job");
    long read = readFrom("job_claim_keyed");
    assertThat(planned.jobs().claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE)).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(other);
    assertThat(readFrom("job_claim_keyed") - read).isLessThan(3_000);
  }
}
