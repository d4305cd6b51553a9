package dev.holdfast.queue;

import dev.holdfast.model.Warnings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Counts what an operator should look at; where there is very much of it, not to the end. */
final class Warn {
  private static final String SQL =
      """
      SELECT (SELECT count(*)
                FROM (SELECT FROM holdfast.job
                       WHERE state = 'FAILED'
                         AND finished_at > statement_timestamp() - interval '1 hour'
                         AND (?::text IS NULL OR tenant = ?::text)
                       LIMIT 10000) AS failed) AS failed,
             (SELECT count(*)
                FROM (SELECT FROM holdfast.job
                       WHERE state = 'RUNNING'
                         AND lease_expires_at < statement_timestamp() - ? * interval '1 millisecond'
                         AND (?::text IS NULL OR tenant = ?::text)
                       LIMIT 10000) AS overdue) AS overdue
      """;

  private Warn() {}

  static Warnings of(Connection connection, @Nullable String tenant, Duration overdueAfter)
      throws SQLException {
    return Rows.list(
            connection,
            row -> new Warnings(row.getLong("failed"), row.getLong("overdue")),
            SQL,
            tenant,
            tenant,
            overdueAfter,
            tenant,
            tenant)
        .getFirst();
  }
}
