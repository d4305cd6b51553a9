package dev.holdfast.queue;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.enqueue.EnqueueIdempotent;
import dev.holdfast.queue.history.SumUpHistory;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.maintenance.Promote;
import dev.holdfast.queue.maintenance.Retention;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.read.Artifacts;
import dev.holdfast.queue.recover.Expire;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.queue.schedule.FireSchedules;
import dev.holdfast.queue.wait.EndedJobs;
import dev.holdfast.queue.wait.Wake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What reapers run again and again: lost leases, expired jobs, due retries, schedules, history,
 * retention. Any number of processes may run it at the same time.
 */
public final class Maintenance {
  private static final int BATCH = 1_000;

  private final Database database;
  private final MaterializedJobs materialized;
  private final QueueNotifier notifier;
  private final Enqueue enqueue;
  private final EndedJobs endedJobs;
  private volatile Duration historyPiece = SumUpHistory.LONGEST_PIECE;

  Maintenance(Database database, QueueNotifier notifier, Enqueue enqueue, EndedJobs endedJobs) {
    this.database = database;
    this.materialized = new MaterializedJobs(database);
    this.notifier = notifier;
    this.enqueue = enqueue;
    this.endedJobs = endedJobs;
  }

  /** Reaps expired leases. */
  public ReapResult reap(Duration grace) {
    return recovered(
        materialized.sweeping("reap", connection -> Reap.lost(connection, grace, BATCH)));
  }

  /** Ends cancellations, attempts and jobs that are out of time. */
  public ReapResult expire() {
    return recovered(materialized.sweeping("expire", connection -> Expire.late(connection, BATCH)));
  }

  /** Of these, only cancellations that were requested less than this long ago. */
  public ReapResult expireCancelled(Duration age) {
    return recovered(
        database.transact(
            "expireCancelled", connection -> Expire.cancelled(connection, age, BATCH)));
  }

  /**
   * Makes jobs claimable whose backoff or wait is over, or which waited for others that have ended.
   */
  public int promote() {
    List<String> ready = new ArrayList<>(Promote.due(database, null));
    ready.addAll(Wake.due(database, null));
    ready.addAll(endedJobs.freeMissed(null));
    notifier.send(Set.copyOf(ready));
    return ready.size();
  }

  /** Enqueues the jobs of schedules that are due. */
  public int fire() {
    return database.transact("fire", connection -> FireSchedules.due(connection, enqueue));
  }

  /**
   * Fires schedules that are due, and answers how long it is until the next one, if there is one.
   */
  public Optional<Duration> fireOnTime() {
    return database.transact(
        "fireOnTime",
        connection -> {
          FireSchedules.due(connection, enqueue);
          return FireSchedules.untilNext(connection);
        });
  }

  /**
   * Sums up jobs for the history, up to a quarter of an hour of them. True when there are more to
   * sum up now. Does nothing while another process does it. Where that many jobs cannot be summed
   * up within the limit on statements, fewer are tried the next time, until all is summed up.
   */
  public boolean sumUpHistory() {
    Duration piece = historyPiece;
    try {
      SumUpHistory.Progress progress =
          database.transactByKey(
              "sumUpHistory", connection -> SumUpHistory.piece(connection, piece));
      if (progress == SumUpHistory.Progress.DONE) {
        historyPiece = SumUpHistory.LONGEST_PIECE;
      }
      return progress == SumUpHistory.Progress.MORE;
    } catch (DatabaseException failed) {
      historyPiece = SumUpHistory.shorter(piece);
      throw failed;
    }
  }

  /** Deletes jobs that ended in this state longer ago than this, up to 1,000 of them. */
  public int retain(JobState state, Duration olderThan) {
    return database.run(
        "retain", connection -> Retention.delete(connection, state, olderThan, BATCH));
  }

  /** Deleted jobs whose artifacts are still in the store. */
  public List<JobId> orphaned(String store) {
    return database.run("orphaned", connection -> Artifacts.orphaned(connection, store, BATCH));
  }

  /** Called once the files of deleted jobs are gone. */
  public void forget(String store, List<JobId> jobs) {
    database.run("forget", connection -> Artifacts.forget(connection, store, jobs));
  }

  /** Deletes idempotency keys that were used longer ago than this. */
  public int forgetSubmissions(Duration olderThan) {
    return database.run(
        "forgetSubmissions", connection -> EnqueueIdempotent.forget(connection, olderThan));
  }

  private ReapResult recovered(List<Reap.Reaped> reaped) {
    ReapResult result = ReapResult.of(Reap.logged(reaped));
    notifier.send(result.requeuedIn());
    endedJobs.add(result.ended());
    return result;
  }
}
