package dev.holdfast.simulation.compare;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.simulation.queue.JobSpec;
import dev.holdfast.simulation.queue.QueueVerbs;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** The verbs on the real queue, whose database has a {@link VirtualClock}. */
final class PostgresVerbs implements QueueVerbs {
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
  private final Map<String, Pace> paces = new ConcurrentHashMap<>();
  private long now;

  PostgresVerbs(JobStore store, DataSource dataSource, VirtualClock clock) {
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
  public Enqueued enqueue(JobSpec spec) {
    Job job = spec.job();
    return store
        .jobs()
        .enqueue(
            spec.deadlineMillis() == 0
                ? job
                : job.deadline(VirtualClock.moment(now).plus(spec.deadline())));
  }

  @Override
  public void begin(JobSpec spec) {
    try {
      Connection connection = dataSource.getConnection();
      connection.setAutoCommit(false);
      Object unused = store.jobs().enqueue(connection, List.of(spec.job()));
      open.add(connection);
    } catch (SQLException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  @Override
  public void commit() {
    try {
      for (Connection connection : open) {
        connection.commit();
        connection.setAutoCommit(true);
        connection.close();
      }
      open.clear();
    } catch (SQLException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  @Override
  public Claimed claim(String name, int most, String worker, Duration lease, Duration cancelGrace) {
    Pace pace = paces.computeIfAbsent(name, each -> new Pace());
    LockSupport.parkNanos(pace.untilFullScan());
    long begun = System.nanoTime();
    Claimed claimed = store.jobs().claimInBatches(name, most, worker, lease, cancelGrace);
    pace.claimed(claimed.jobs().size(), System.nanoTime() - begun);
    return claimed;
  }

  /**
   * After a large claim, and after slow ones, the next begins behind what they found; a full scan
   * of the index, which finds what committed late, follows after a while. The model knows no
   * cursor: claims are made here when a full scan is due.
   */
  private static final class Pace {
    private static final int LARGE = 100;
    private static final long SLOW_NANOS = 15_000_000;
    private static final int SLOW_CLAIMS = 2;
    private static final int TIMES_ITS_COST = 20;

    private long claimedAt = System.nanoTime();
    private long pause;
    private int slowInARow;

    synchronized long untilFullScan() {
      return Math.max(0, claimedAt + pause - System.nanoTime());
    }

    synchronized void claimed(int jobs, long took) {
      claimedAt = System.nanoTime();
      slowInARow = took > SLOW_NANOS ? slowInARow + 1 : 0;
      pause = jobs >= LARGE || slowInARow >= SLOW_CLAIMS ? TIMES_ITS_COST * took : 0;
    }
  }

  @Override
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return store.jobs().heartbeat(leases, lease);
  }

  @Override
  public List<HeartbeatResult> commands(String worker) {
    return store.jobs().commands(worker);
  }

  @Override
  public List<Ack> report(List<Report> reports) {
    return store.jobs().report(reports);
  }

  @Override
  public List<StepStatus> steps(Lease lease) {
    return store.queries().steps(lease.job());
  }

  @Override
  public Ack publish(Publication publication) {
    return store.jobs().publish(publication);
  }

  @Override
  public List<PublishedArtifact> artifacts(Lease lease) {
    return store.queries().artifacts(lease.job());
  }

  @Override
  public List<Ack> settle(List<Settlement> settlements) {
    return store.jobs().settle(settlements);
  }

  @Override
  public boolean succeeded(Lease lease) {
    return store.jobs().succeeded(lease);
  }

  @Override
  public List<Lease> heldBy(String worker) {
    return store.jobs().heldBy(worker);
  }

  @Override
  public void promote() {
    int unused = store.maintenance().promote();
  }

  /** As the library's own source does it. */
  @Override
  public Map<String, Integer> reapAndExpire(Duration reapGrace) {
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

  @Override
  public int recover(String workerPrefix) {
    return count(store.workers().recovery().recover("supervisor", workerPrefix, "it died"));
  }

  @Override
  public List<Cancellation> cancel(JobId job, String reason) {
    return store.jobs().cancel(job, false, reason);
  }

  @Override
  public Set<JobId> retry(JobId job) {
    return store.jobs().retry(List.of(job));
  }

  @Override
  public void limit(String name, int maxRunning) {
    store.admin().limit(name, maxRunning);
  }

  @Override
  public void restarted() {
    clock.startedAt(now);
  }

  @Override
  public List<String> rows() {
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
