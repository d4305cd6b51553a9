package dev.holdfast.queue.wait;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.notice.AskedQuestion;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.WaitJson;
import dev.holdfast.queue.sql.WaitEnds;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/**
 * A question by its job, its id and the moment at which it was asked: the same id that is asked
 * again is another question.
 */
public final class ReadQuestion {
  /** What {@link #open} reads of a job. */
  public static final String COLUMNS =
      "j.id AS job_id, j.kind, j.queue, j.tenant, j.run_key, j.state, j.wait_sort, j.wake_at, j.wait";

  // What has ended a wait is kept with the moment at which the wait began.
  private static final Sql SQL =
      Sql.of(
          """
          SELECT ${job}, ${asks} AS asks, ${end}
            FROM holdfast.job j
            LEFT JOIN holdfast.step s
                   ON s.job_id = j.id AND s.step_id = :wait AND s.started_at = :since
                  AND s.ended ->> 'sort' = 'APPROVAL'
           WHERE j.id = :job
          """,
          "job",
          COLUMNS,
          "asks",
          asks("j", ":wait", ":since"),
          "end",
          WaitEnds.columns("s.ended"));

  private ReadQuestion() {}

  /**
   * Whether a job asks a question now, a condition that is never null.
   *
   * @param job the alias of its row
   * @param wait the id, an expression
   * @param since when it was asked, an expression
   */
  public static String asks(String job, String wait, String since) {
    return """
        (%1$s.wait_sort IS NOT DISTINCT FROM 'APPROVAL' AND %1$s.wait ->> 'id' = %2$s
              AND (%1$s.wait ->> 'since')::timestamptz = %3$s)\
        """
        .formatted(job, wait, since);
  }

  public static Optional<AskedQuestion> of(
      Connection connection, JobId job, String wait, Instant since) throws SQLException {
    return SQL.on(connection)
        .set("job", job)
        .set("wait", wait)
        .set("since", since)
        .first(
            row ->
                new AskedQuestion(
                    Rows.id(row, "job_id"),
                    row.getString("kind"),
                    row.getString("queue"),
                    row.getString("tenant"),
                    row.getString("run_key"),
                    JobState.valueOf(row.getString("state")),
                    row.getBoolean("asks") ? WaitJson.read(row) : null,
                    WaitEnds.read(row)));
  }

  /** Of a job that asks. */
  public static AskedQuestion open(ResultSet row) throws SQLException {
    return new AskedQuestion(
        Rows.id(row, "job_id"),
        row.getString("kind"),
        row.getString("queue"),
        row.getString("tenant"),
        row.getString("run_key"),
        JobState.valueOf(row.getString("state")),
        WaitJson.read(row),
        null);
  }
}
