package dev.holdfast.queue.history;

import dev.holdfast.model.ops.JobHistory.Tally;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Adds rows up. */
final class TallySum {
  private final Histogram wait = new Histogram();
  private final Histogram run = new Histogram();
  private long enqueued;
  private long succeeded;
  private long failed;
  private long cancelled;

  static TallySum of(ResultSet row) throws SQLException {
    TallySum sum = new TallySum();
    sum.enqueued = row.getLong("enqueued");
    sum.succeeded = row.getLong("succeeded");
    sum.failed = row.getLong("failed");
    sum.cancelled = row.getLong("cancelled");
    sum.wait.add(row.getArray("wait_buckets"), row.getArray("wait_counts"));
    sum.run.add(row.getArray("run_buckets"), row.getArray("run_counts"));
    return sum;
  }

  void add(TallySum other) {
    enqueued += other.enqueued;
    succeeded += other.succeeded;
    failed += other.failed;
    cancelled += other.cancelled;
    wait.add(other.wait);
    run.add(other.run);
  }

  /** How much happened, to order by. */
  long jobs() {
    return enqueued + succeeded + failed + cancelled;
  }

  Tally tally() {
    return new Tally(enqueued, succeeded, failed, cancelled, wait.percentiles(), run.percentiles());
  }
}
