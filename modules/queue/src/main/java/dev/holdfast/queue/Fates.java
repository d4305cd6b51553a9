package dev.holdfast.queue;

import dev.holdfast.model.Fate;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Looks up where jobs stand, without all that belongs to them. */
final class Fates {
  private static final String SQL =
      """
      SELECT j.id, j.tenant, j.state, j.attempt, j.failure ->> 'code' AS failure_code
        FROM holdfast.job j
       WHERE j.id = ANY (?::uuid[])
      """;

  private Fates() {}

  static List<Fate> of(Connection connection, List<JobId> jobs) throws SQLException {
    return Rows.list(
        connection,
        row ->
            new Fate(
                Rows.id(row, "id"),
                row.getString("tenant"),
                JobState.valueOf(row.getString("state")),
                row.getInt("attempt"),
                row.getString("failure_code")),
        SQL,
        Rows.array(connection, "uuid", jobs, job -> job));
  }
}
