package dev.holdfast.simulation.compare;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.simulation.queue.Interpreter;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.PlainCodec;
import dev.holdfast.simulation.queue.Verb;
import dev.holdfast.simulation.queue.VerbText;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The real queue, whose database has a {@link VirtualClock}. */
final class PostgresQueue implements Interpreter, AutoCloseable {
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
                                             || s.state || ':' || s.attempt || ':' || s.resets
                                             || ':' || coalesce(s.ended ->> 'outcome', '-')
                                             || coalesce('/' || (s.ended ->> 'by'), '')
                                             || coalesce('/' || (s.ended ->> 'comment'), ''), ','
                                             ORDER BY s.step_index)
                                      FROM holdfast.step s WHERE s.job_id = j.id), '')
          || ' key=' || CASE WHEN j.unique_states <> 0 THEN j.unique_key ELSE '-' END
          || ' artifacts=' || coalesce((SELECT string_agg(f.name, ',' ORDER BY f.name)
                                          FROM holdfast.artifact f WHERE f.job_id = j.id), '')
          || ' wait=' || coalesce(j.wait_sort || ':' || (j.wait ->> 'id') || ':'
                                  || coalesce(virtual.micros(j.wake_at)::text, '-'), '-')
          || ' mail=' || coalesce((SELECT string_agg(m.number || ':' || m.name || ':'
                                            || coalesce(m.taken_by, '-'), ',' ORDER BY m.number)
                                     FROM holdfast.signal m WHERE m.job_id = j.id), '')
             AS row
        FROM holdfast.job j
       ORDER BY j.id
      """;

  private static final int MOST_PAGES = 100;

  private static final String EMPTY =
      """
      TRUNCATE holdfast.job, holdfast.claim, holdfast.queue, holdfast.event, holdfast.attempt,
               holdfast.step, holdfast.artifact CASCADE;
      UPDATE virtual.clock SET at = '%1$s', started_at = '%1$s'::timestamptz - interval '1 day'
      """
          .formatted(VirtualClock.BEGIN);

  private final TestDatabase database;
  private final JobStore store;
  private final List<Connection> open = new ArrayList<>();
  private long now;

  /**
   * Its claims are in batches as soon as there is more than one. The model knows no cursor: where
   * claims cost no time, each of them is due for a full index scan. Nor does it know threads that
   * free jobs beside the verbs.
   */
  PostgresQueue(TestDatabase database) {
    this.database = database;
    this.store =
        new JobStore(
            database.dataSource(),
            new PlainCodec(),
            JobStore.Options.DEFAULT.batchFrom(1).nanos(() -> 0).freeAtOnce(false));
  }

  /** As at the beginning of a run. */
  void empty() {
    database.sql(EMPTY);
    now = 0;
  }

  void time(long micros) {
    if (micros != now) {
      database.sql("UPDATE virtual.clock SET at = ?", VirtualClock.at(micros));
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
          store
              .jobs()
              .claim(new ClaimRequest(name, most, worker, lease).cancelGrace(grace).inBatches());
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
      case Verb.Cancel(JobId job, String reason) ->
          store.jobs().cancel(List.of(job), false, reason, Tenant.ANY);
      case Verb.Retry(JobId job) -> store.jobs().retry(List.of(job), Tenant.ANY);
      case Verb.Limit(String name, int maxRunning) -> limit(name, maxRunning);
      case Verb.Suspend(Suspension suspension) -> store.jobs().suspend(onItsClock(suspension));
      case Verb.Signal(JobId job, SignalToJob signal) ->
          store.jobs().signal(job, signal, Tenant.ANY);
      case Verb.Decide(JobId job, String wait, Decision decision, Role role) ->
          store.jobs().decide(job, wait, decision, role, Tenant.ANY);
      case Verb.Start started -> store.jobs().startChildren(started.asked());
      case Verb.Ends(Lease lease, List<JobId> children) ->
          store.queries().children(lease.job(), children);
      case Verb.Restarted() -> restarted();
    };
  }

  /** What is compared of the answer, or the failure. */
  String textOf(Verb<?> verb) {
    try {
      return VerbText.of(answer(verb));
    } catch (RefusedException refused) {
      return VerbText.of(refused);
    } catch (RuntimeException thrown) {
      return "throws " + thrown;
    }
  }

  private static Verb.Done done(Object unused) {
    return Verb.Done.DONE;
  }

  private Verb.Done begin(Job job) {
    try {
      Connection connection = database.connection();
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
        connection.close();
      }
      open.clear();
      return Verb.Done.DONE;
    } catch (SQLException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  /** The model counts from the epoch. */
  private static Suspension onItsClock(Suspension asked) {
    return asked.asked() instanceof Wait.SleepUntil(String id, Instant until)
        ? new Suspension(
            asked.lease(),
            asked.index(),
            new Wait.SleepUntil(
                id, VirtualClock.moment(ChronoUnit.MICROS.between(Instant.EPOCH, until))))
        : asked;
  }

  private Verb.Done limit(String name, int maxRunning) {
    store.admin().limit(name, maxRunning);
    return Verb.Done.DONE;
  }

  private Verb.Done restarted() {
    return done(database.sql("UPDATE virtual.clock SET started_at = ?", VirtualClock.at(now)));
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
    Object unused = store.queries().statistics(Tenant.ANY);
    return database.query(ROWS).stream().map(row -> String.valueOf(row.get("row"))).toList();
  }

  @Override
  public void close() {
    store.close();
  }
}
