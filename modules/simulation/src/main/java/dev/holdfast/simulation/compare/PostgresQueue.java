package dev.holdfast.simulation.compare;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** The real queue, whose database has a {@link VirtualClock}. */
final class PostgresQueue implements Interpreter {
  // In the form of the model's rows; times as microseconds since the run began.
  private static final String ROWS =
      """
      SELECT j.id || ' ' || j.state
          || ' attempt=' || j.attempt
          || ' worker=' || coalesce(CASE WHEN j.state = 'RUNNING' THEN j.worker_id END, '-')
          || ' run_at=' || virtual.micros(j.run_at)
          || ' heartbeat=' || coalesce(virtual.micros(j.heartbeat_at)::text, '-')
          || ' lease=' || coalesce(virtual.micros(j.lease_expires_at)::text, '-')
          || ' failures=' || j.failures || ' crashes=' || j.crashes || ' isolated=' || j.isolated
          || ' cancel=' || coalesce(virtual.micros(j.cancel_requested_at)::text, '-')
          || ' failure=' || coalesce(j.failure ->> 'code', '-')
          || ' result=' || coalesce(replace(j.result::text, ' ', ''), '-')
          || ' progress=' || coalesce(j.progress::text, '-')
          || ' finished=' || coalesce(virtual.micros(j.finished_at)::text, '-')
          || ' events=' || j.event_count
          || ' attempts=' || coalesce((SELECT string_agg(a.attempt || ':' || a.outcome, ','
                                                ORDER BY a.attempt)
                                         FROM holdfast.attempt a WHERE a.job_id = j.id), '')
          || ' steps=' || coalesce((SELECT string_agg(s.step_id || ':' || s.step_index || ':'
                                             || s.state || ':' || s.attempt || ':' || s.resets, ','
                                             ORDER BY s.step_index)
                                      FROM holdfast.step s WHERE s.job_id = j.id), '')
          || ' artifacts=' || coalesce((SELECT string_agg(f.name, ',' ORDER BY f.name)
                                          FROM holdfast.artifact f WHERE f.job_id = j.id), '')
        FROM holdfast.job j
       ORDER BY j.id
      """;

  private static final int MOST_PAGES = 100;

  private final JobStore store;
  private final DataSource dataSource;
  private final VirtualClock clock;
  private final List<Connection> open = new ArrayList<>();
  private long now;

  PostgresQueue(JobStore store, DataSource dataSource, VirtualClock clock) {
    this.store = store;
    this.dataSource = dataSource;
    this.clock = clock;
  }

  void time(long micros) {
    if (micros != now) {
      clock.set(micros);
      now = micros;
    }
  }

  @Override
  public Object answer(Verb<?> verb) {
    return switch (verb) {
      case Verb.Enqueue(JobSpec job) -> store.jobs().enqueue(job.job(VirtualClock.moment(now)));
      case Verb.Begin(JobSpec job) -> begin(job.job(VirtualClock.moment(now)));
      case Verb.Commit() -> commit();
      case Verb.Claim(String name, int most, String worker, Duration lease, Duration grace) ->
          store.jobs().claimInBatches(name, most, worker, lease, grace);
      case Verb.Heartbeat(List<Lease> leases, Duration lease) ->
          store.jobs().heartbeat(leases, lease);
      case Verb.Commands(String worker) -> store.jobs().commands(worker);
      case Verb.WriteReports(List<Report> reports) -> store.jobs().report(reports);
      case Verb.Steps(Lease lease) -> store.queries().steps(lease.job());
      case Verb.Publish(Publication publication) -> store.jobs().publish(publication);
      case Verb.Artifacts(Lease lease) -> store.queries().artifacts(lease.job());
      case Verb.Settle(List<Settlement> settlements) -> store.jobs().settle(settlements);
      case Verb.Succeeded(Lease lease) -> store.jobs().succeeded(lease);
      case Verb.HeldBy(String worker) -> store.jobs().heldBy(worker);
      case Verb.Promote() -> done(store.maintenance().promote());
      case Verb.ReapAndExpire(Duration grace) -> reapAndExpire(grace);
      case Verb.Recover(String prefix) ->
          count(store.workers().recovery().recover("supervisor", prefix, "it died"));
      case Verb.Cancel(JobId job, String reason) -> store.jobs().cancel(job, false, reason);
      case Verb.Retry(JobId job) -> store.jobs().retry(List.of(job));
      case Verb.Limit(String name, int maxRunning) -> limit(name, maxRunning);
      case Verb.Restarted() -> restarted();
    };
  }

  /** What is compared of the answer, or the failure. */
  String textOf(Verb<?> verb) {
    try {
      return VerbText.of(answer(verb));
    } catch (RuntimeException thrown) {
      return "throws " + thrown;
    }
  }

  private static Verb.Done done(Object unused) {
    return Verb.Done.DONE;
  }

  private Verb.Done begin(Job job) {
    try {
      Connection connection = dataSource.getConnection();
      connection.setAutoCommit(false);
      open.add(connection);
      return done(store.jobs().enqueue(connection, List.of(job)));
    } catch (SQLException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  private Verb.Done commit() {
    try {
      for (Connection connection : open) {
        connection.commit();
        connection.setAutoCommit(true);
        connection.close();
      }
      open.clear();
      return Verb.Done.DONE;
    } catch (SQLException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  private Verb.Done limit(String name, int maxRunning) {
    store.admin().limit(name, maxRunning);
    return Verb.Done.DONE;
  }

  private Verb.Done restarted() {
    clock.startedAt(now);
    return Verb.Done.DONE;
  }

  /** As the library's own source does it. */
  private Map<String, Integer> reapAndExpire(Duration reapGrace) {
    Map<String, Integer> recovered = new HashMap<>();
    int found = 1;
    for (int page = 0; found > 0 && page < MOST_PAGES; page++) {
      ReapResult lost = store.maintenance().reap(reapGrace);
      ReapResult late = store.maintenance().expire();
      recovered.merge("stale", lost.requeued().size(), Integer::sum);
      recovered.merge("ended", lost.ended().size(), Integer::sum);
      recovered.merge("timeout", count(late), Integer::sum);
      found = count(lost) + count(late);
    }
    return recovered;
  }

  private static int count(ReapResult reaped) {
    return reaped.requeued().size() + reaped.ended().size();
  }

  List<String> rows() {
    // Jobs in batches get rows of their own first.
    Object unused = store.queries().statistics();
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(ROWS)) {
      List<String> rows = new ArrayList<>();
      while (row.next()) {
        rows.add(row.getString(1));
      }
      return rows;
    } catch (SQLException trouble) {
      throw new IllegalStateException(trouble);
    }
  }
}
