package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.Completion.Verdict;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Settles an attempt and remembers what was said, in one transaction. Said again it is answered the
 * same, also when the job has long gone on to another attempt.
 */
public final class Complete {
  private static final Sql BEFORE =
      Sql.of(
          """
          SELECT final_state, digest FROM holdfast.completion
           WHERE job_id = :job AND attempt = :attempt
          """);

  // The state is read after the settle, under the lock the settle has taken.
  private static final Sql REMEMBER =
      Sql.of(
          """
      INSERT INTO holdfast.completion
             (job_id, attempt, outcome, final_state, digest, worker_id, completed_at, received_at,
              metrics, partial_progress, cancelled_during_phase)
      SELECT j.id, :attempt, :outcome, j.state, :digest, :worker, :completedAt, clock_timestamp(),
             :metrics::jsonb, :partialProgress::jsonb, :phase
        FROM holdfast.job j
       WHERE j.id = :job
      ON CONFLICT (job_id, attempt) DO NOTHING
      RETURNING final_state
      """);

  private static final Sql REPORTED =
      Sql.of(
          """
      SELECT attempt, completed_at, received_at, metrics, partial_progress, cancelled_during_phase
        FROM holdfast.completion
       WHERE job_id = :job
       ORDER BY attempt
      """);

  private record Before(JobState finalState, String digest) {
    Verdict verdict(Completion completion) {
      return digest.equals(completion.digest())
          ? new Verdict.Accepted(finalState)
          : new Verdict.Different();
    }
  }

  private Complete() {}

  public static Verdict one(Connection connection, Settle settle, Completion completion)
      throws SQLException {
    Lease lease = completion.lease();
    Optional<Before> before = before(connection, lease);
    if (before.isPresent()) {
      return before.get().verdict(completion);
    }
    if (settle.one(connection, completion.settlement()) == Ack.LEASE_LOST) {
      // Another call may have settled the attempt between this one's look and its lock.
      return before(connection, lease).map(b -> b.verdict(completion)).orElseGet(Verdict.Late::new);
    }
    Optional<String> state =
        REMEMBER
            .on(connection)
            .lease(lease)
            .set("outcome", completion.outcome())
            .set("digest", completion.digest())
            .set("worker", completion.worker())
            .set("completedAt", completion.completedAt())
            .set("metrics", completion.metrics())
            .set("partialProgress", completion.partialProgress())
            .set("phase", completion.cancelledDuringPhase())
            .first(row -> row.getString("final_state"));
    return state.isEmpty()
        ? before(connection, lease).map(b -> b.verdict(completion)).orElseGet(Verdict.Late::new)
        : new Verdict.Accepted(JobState.valueOf(state.get()));
  }

  private static Optional<Before> before(Connection connection, Lease lease) throws SQLException {
    return BEFORE
        .on(connection)
        .lease(lease)
        .first(
            row ->
                new Before(
                    JobState.valueOf(row.getString("final_state")), row.getString("digest")));
  }

  public static List<ReportedCompletion> reported(Connection connection, JobId job)
      throws SQLException {
    return REPORTED
        .on(connection)
        .set("job", job)
        .list(
            row ->
                new ReportedCompletion(
                    row.getInt("attempt"),
                    Rows.instantOrNull(row, "completed_at"),
                    Rows.instant(row, "received_at"),
                    Rows.jsonOrNull(row, "metrics"),
                    Rows.jsonOrNull(row, "partial_progress"),
                    row.getString("cancelled_during_phase")));
  }
}
