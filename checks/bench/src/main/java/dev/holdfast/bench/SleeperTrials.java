package dev.holdfast.bench;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.JobStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** What very many jobs that sleep cost, and what other work costs beside them. */
final class SleeperTrials {
  private static final int TIMES = 20;
  private static final int QUESTIONS = 100;
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final Duration LONG = Duration.ofDays(30);

  // By indexes: sleeping jobs are not read.
  private static final String LEFT =
      """
      SELECT (SELECT count(*) FROM (SELECT FROM holdfast.job WHERE queue = 'default' AND priority = 5
                 AND state = 'PENDING' AND concurrency_key IS NULL AND NOT isolated LIMIT 1) AS p)
           + (SELECT count(*) FROM (SELECT FROM holdfast.job WHERE queue = 'default'
                 AND state = 'RUNNING' LIMIT 1) AS r)
      """;

  /** What differs from one sleeping job to another. */
  private static final String OWN =
      "ARRAY['id', 'run_id', 'created_at', 'run_at', 'started_at', 'wake_at', 'wait']";

  private final HoldfastContender holdfast;
  private final Meter meter;
  private final int jobs;
  private final int sleepers;

  SleeperTrials(HoldfastContender holdfast, Meter meter, int jobs, int sleepers) {
    this.holdfast = holdfast;
    this.meter = meter;
    this.jobs = jobs;
    this.sleepers = sleepers;
  }

  Map<String, Callable<List<Sample>>> all() {
    return Map.of("sleepers", this::sleepers);
  }

  private static Sample of(String trial, String unit, double value) {
    return Sample.of(trial, "holdfast", unit, value);
  }

  private List<Sample> sleepers() throws Exception {
    holdfast.clear();
    for (int i = 0; i < QUESTIONS; i++) {
      suspended("asks", new Wait.ForApproval("ok", Question.of("Well?")));
    }
    List<Sample> samples = new ArrayList<>(measured("none"));
    long before = size("pg_table_size");
    long indexes = size("pg_indexes_size");
    fill();
    samples.add(of("table, a sleeper", "bytes", (size("pg_table_size") - before) / each()));
    samples.add(of("indexes, a sleeper", "bytes", (size("pg_indexes_size") - indexes) / each()));
    samples.addAll(measured("sleepers"));
    holdfast.clear();
    return samples;
  }

  private double each() {
    return sleepers;
  }

  /** Of all tables in which a sleeping job has rows. */
  private long size(String function) throws SQLException {
    return holdfast
        .target()
        .count(
            "SELECT sum(%s(name::regclass)) FROM unnest(ARRAY['holdfast.job', 'holdfast.attempt', 'holdfast.event']) AS name"
                .formatted(function));
  }

  // ---- jobs that sleep

  /** As a worker does it. */
  private void suspended(String kind, Wait asked) {
    JobStore store = holdfast.holdfast().store();
    holdfast.holdfast().enqueue(Job.of(kind, Map.of("n", 1)));
    Lease lease =
        store
            .jobs()
            .claim(new ClaimRequest(Job.DEFAULT_QUEUE, 1, "bench", LEASE))
            .jobs()
            .getFirst()
            .lease();
    var unused = store.jobs().suspend(new Suspension(lease, 1, asked));
  }

  /** Two are suspended by the queue: of one all others are copies, and are then like the other. */
  private void fill() throws SQLException {
    suspended("sleeper", new Wait.Sleep("nap", LONG));
    suspended("sleeper", new Wait.Sleep("nap", LONG));
    Target target = holdfast.target();
    String one = target.text("SELECT min(id::text) FROM holdfast.job WHERE kind = 'sleeper'");
    String other = target.text("SELECT max(id::text) FROM holdfast.job WHERE kind = 'sleeper'");
    target.run("DROP TABLE IF EXISTS sleeper_id");
    target.run(
        """
        CREATE TABLE sleeper_id AS
        SELECT n, (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + n / 100), 12, '0')
                   || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 12)
                   || '000')::uuid AS id
          FROM generate_series(3, %d) AS n
        """
            .formatted(sleepers));
    copy(
        "job",
        one,
        "id",
        Map.of(
            "id", "i.id",
            "run_id", "i.id",
            "created_at", "t.created_at + i.n * interval '1 millisecond'",
            "run_at", "t.run_at + i.n * interval '1 millisecond'",
            "wake_at", "t.wake_at + i.n * interval '1 millisecond'"));
    copy("attempt", one, "job_id", Map.of("job_id", "i.id"));
    copy("event", one, "job_id", Map.of("job_id", "i.id"));
    target.run("DROP TABLE sleeper_id");
    for (String table : List.of("job", "attempt", "event")) {
      target.run("VACUUM (ANALYZE) holdfast." + table);
    }
    expectAlike(
        "holdfast.job WHERE kind = 'sleeper' AND id",
        "to_jsonb(r) - %s || jsonb_build_object('wait', r.wait - 'since')".formatted(OWN),
        other);
    expectAlike(
        "holdfast.attempt WHERE job_id",
        "to_jsonb(r) - ARRAY['job_id', 'started_at', 'ended_at']",
        other);
    expectAlike(
        "holdfast.event WHERE job_id",
        "to_jsonb(r) - ARRAY['job_id', 'at'] || jsonb_build_object('data', r.data - 'until')",
        other);
  }

  /** The rows of a table that belong to a job, once more for each id. */
  private void copy(String table, String job, String key, Map<String, String> own)
      throws SQLException {
    List<String> columns =
        List.of(
            holdfast
                .target()
                .text(
                    "SELECT string_agg(column_name, ',' ORDER BY ordinal_position)"
                        + " FROM information_schema.columns WHERE table_schema = 'holdfast'"
                        + " AND table_name = '%s' AND is_generated = 'NEVER'".formatted(table))
                .split(",", -1));
    holdfast
        .target()
        .run(
            "INSERT INTO holdfast.%s (%s) SELECT %s FROM holdfast.%s t, sleeper_id i WHERE t.%s = '%s' ORDER BY i.n"
                .formatted(
                    table,
                    String.join(", ", columns),
                    String.join(
                        ", ",
                        columns.stream()
                            .map(column -> own.getOrDefault(column, "t." + column))
                            .toList()),
                    table,
                    key,
                    job));
  }

  /** The rows of ten thousand copies are like those of a job that the queue has suspended. */
  private void expectAlike(String rows, String compared, String job) throws SQLException {
    holdfast
        .target()
        .expect(
            0,
            """
            SELECT count(*)
              FROM (SELECT %1$s AS row FROM (SELECT * FROM %2$s <> '%3$s' LIMIT 10000) AS r) AS copy
             WHERE copy.row NOT IN (SELECT %1$s FROM (SELECT * FROM %2$s = '%3$s') AS r)
            """
                .formatted(
                    compared,
                    rows.contains("kind")
                        ? rows
                        : rows.replace(
                            "WHERE job_id",
                            "WHERE job_id IN (SELECT id FROM holdfast.job WHERE kind = 'sleeper') AND job_id"),
                    job));
  }

  // ---- what is measured beside them

  private List<Sample> measured(String beside) throws Exception {
    JobStore store = holdfast.holdfast().store();
    Map<String, Runnable> calls = new LinkedHashMap<>();
    calls.put("sweep", () -> call(store.maintenance().promote()));
    calls.put("reap", () -> call(store.maintenance().reap(Duration.ofSeconds(30))));
    calls.put("expire", () -> call(store.maintenance().expire()));
    calls.put(
        "retention",
        () -> call(store.maintenance().retain(JobState.SUCCEEDED, Duration.ofDays(7))));
    calls.put(
        "idle claim",
        () -> call(store.jobs().claim(new ClaimRequest(Job.DEFAULT_QUEUE, 100, "bench", LEASE))));
    calls.put("counts of waits", () -> call(store.queries().waits()));
    calls.put("warnings", () -> call(store.queries().warnings(Tenant.ANY, Duration.ofSeconds(30))));
    calls.put("statistics", () -> call(store.queries().statistics(Tenant.ANY)));
    calls.put("inbox", () -> call(page(JobFilter.ALL.waits(WaitSort.APPROVAL))));
    calls.put("list", () -> call(page(JobFilter.ALL)));
    calls.put("list of waiting", () -> call(page(JobFilter.ALL.states(Set.of(JobState.WAITING)))));
    calls.put("counts", () -> call(store.queries().counts(JobFilter.ALL)));
    List<Sample> samples = new ArrayList<>();
    for (Map.Entry<String, Runnable> each : calls.entrySet()) {
      each.getValue().run();
      Meter.Reading start = meter.read(holdfast);
      for (int i = 0; i < TIMES; i++) {
        each.getValue().run();
      }
      Meter.Reading used = meter.read(holdfast).since(start);
      samples.add(of(each.getKey() + ", " + beside, "ms", used.seconds() * 1e3 / TIMES));
      samples.add(
          of(each.getKey() + ", " + beside + ", server", "cpu ms", used.server() * 1e3 / TIMES));
    }
    for (int round = 0; round < 3; round++) {
      samples.add(drained(beside));
    }
    return samples;
  }

  private Object page(JobFilter filter) {
    return holdfast.holdfast().store().queries().page(filter.limit(50));
  }

  private static void call(@Nullable Object unused) {}

  private Sample drained(String beside) throws Exception {
    holdfast.enqueue(0, jobs);
    Trials.Once once = new Trials.Once(jobs);
    Meter.Reading start = meter.read(holdfast);
    AutoCloseable worker = holdfast.work(Trials.CONCURRENCY, 0, once::ran);
    try {
      once.await();
      while (holdfast.target().count(LEFT) > 0) {
        Trials.sleep(20);
      }
      return Sample.rate("drain, " + beside, "holdfast", jobs, meter.read(holdfast).since(start));
    } finally {
      worker.close();
      once.verify();
      holdfast.target().run("DELETE FROM holdfast.job WHERE kind = 'noop'");
    }
  }
}
