package dev.holdfast.queue.sql;

import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** How waits have ended, as stored with their steps. */
public final class WaitEnds {
  private WaitEnds() {}

  /**
   * The columns for {@link #read}.
   *
   * @param ended an expression
   */
  public static String columns(String ended) {
    return """
        %1$s ->> 'sort' AS ended_sort, %1$s ->> 'outcome' AS ended_outcome,
               %1$s ->> 'by' AS ended_by, (%1$s ->> 'at')::timestamptz AS ended_at,
               %1$s ->> 'comment' AS ended_comment, (%1$s ->> 'job')::uuid AS ended_job,
               (%1$s ->> 'jobs')::int4 AS ended_jobs\
        """
        .formatted(ended);
  }

  public static @Nullable WaitEnd read(ResultSet row) throws SQLException {
    String outcome = row.getString("ended_outcome");
    return outcome == null
        ? null
        : new WaitEnd(
            WaitSort.valueOf(row.getString("ended_sort")),
            WaitEnd.Outcome.valueOf(outcome),
            row.getString("ended_by"),
            Rows.instantOrNull(row, "ended_at"),
            row.getString("ended_comment"),
            Rows.idOrNull(row, "ended_job"),
            Rows.intOrNull(row, "ended_jobs"));
  }
}
