package dev.holdfast.queue.wait;

import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.FailureJson;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Reads how jobs have ended that another one has started. */
public final class ChildEnds {
  private static final Sql SQL =
      Sql.of(
          """
          SELECT c.id, c.state, c.result, c.failure
            FROM unnest(:children::uuid[]) WITH ORDINALITY AS asked(id, n)
            JOIN holdfast.job c
              ON c.id = asked.id
             AND (c.parent_id = :parent
                  -- What a fork knows of that was started by the job that it is forked from.
                  OR EXISTS (SELECT FROM holdfast.step s
                              WHERE s.job_id = :parent AND s.ended ->> 'job' = c.parent_id::text
                                AND s.ended ->> 'outcome' = 'STARTED'))
           ORDER BY asked.n
          """);

  private ChildEnds() {}

  public static List<ChildEnd> of(Connection connection, JobId parent, List<JobId> children)
      throws SQLException {
    return SQL.on(connection)
        .set("parent", parent)
        .array("children", "uuid", children, id -> id)
        .list(
            row ->
                new ChildEnd(
                    Rows.id(row, "id"),
                    JobState.valueOf(row.getString("state")),
                    Rows.jsonOrNull(row, "result"),
                    FailureJson.read(row.getString("failure"))));
  }
}
