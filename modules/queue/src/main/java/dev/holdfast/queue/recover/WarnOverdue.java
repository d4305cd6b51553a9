package dev.holdfast.queue.recover;

import dev.holdfast.model.ops.Warnings;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Counts what an operator should look at; where there is very much of it, not to the end. */
public final class WarnOverdue {
  // A lease is overdue when it could have been taken back for as long as it lasted itself: reapers
  // look several times in that. How long that is, each row tells.
  private static final String SQL =
      """
      SELECT failed.jobs AS failed, failed.toxic,
             (SELECT count(*)
                FROM (SELECT FROM holdfast.job j
                       WHERE j.state = 'RUNNING'
                         AND %s + (j.lease_expires_at - j.heartbeat_at)
                             + ? * interval '1 millisecond' < statement_timestamp()
                         AND (?::text IS NULL OR j.tenant = ?::text)
                       LIMIT 10000) AS overdue) AS overdue
        FROM (SELECT count(*) AS jobs,
                     count(*) FILTER (WHERE code = 'TOXIC_JOB') AS toxic
                FROM (SELECT failure ->> 'code' AS code
                        FROM holdfast.job
                       WHERE state = 'FAILED'
                         AND finished_at > statement_timestamp() - interval '1 hour'
                         AND (?::text IS NULL OR tenant = ?::text)
                       LIMIT 10000) AS one) AS failed
      """
          .formatted(Reap.MAY_TAKE_BACK_FROM);

  private WarnOverdue() {}

  public static Warnings of(Connection connection, @Nullable String tenant, Duration reapGrace)
      throws SQLException {
    return Rows.list(
            connection,
            row ->
                new Warnings(row.getLong("failed"), row.getLong("toxic"), row.getLong("overdue")),
            SQL,
            reapGrace,
            tenant,
            tenant,
            tenant,
            tenant)
        .getFirst();
  }
}
