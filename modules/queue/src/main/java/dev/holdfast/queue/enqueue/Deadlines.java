package dev.holdfast.queue.enqueue;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/** Refuses jobs whose deadline has passed: they would fail without having run. */
final class Deadlines {
  // An enqueue that is sent again after its answer was lost finds its job, whatever the time is.
  private static final Sql PASSED =
      Sql.of(
          """
          SELECT d.deadline, statement_timestamp() AS now
            FROM unnest(:jobs::uuid[], :deadlines::timestamptz[]) AS d(id, deadline)
           WHERE d.deadline <= statement_timestamp()
             AND NOT EXISTS (SELECT FROM holdfast.job j WHERE j.id = d.id)
           LIMIT 1
          """);

  private record Passed(Instant deadline, Instant now) {}

  private Deadlines() {}

  /** By the database's clock, which also decides when the deadline of a job is over. */
  static void check(Connection connection, List<EncodedJob> jobs) throws SQLException {
    List<EncodedJob> limited = jobs.stream().filter(EncodedJob::hasDeadline).toList();
    if (limited.isEmpty()) {
      return;
    }
    List<Passed> passed =
        PASSED
            .on(connection)
            .array("jobs", "uuid", limited, EncodedJob::id)
            .array("deadlines", "timestamptz", limited, each -> each.job().deadline())
            .list(row -> new Passed(Rows.instant(row, "deadline"), Rows.instant(row, "now")));
    if (!passed.isEmpty()) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "deadline %s has passed: by the database's clock it is %s"
              .formatted(passed.getFirst().deadline(), passed.getFirst().now()));
    }
  }
}
