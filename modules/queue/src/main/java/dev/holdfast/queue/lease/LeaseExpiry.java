package dev.holdfast.queue.lease;

import dev.holdfast.queue.jdbc.Sql;

/**
 * When a lease has run out, and when it is overdue. The reaper, the health check and the list of
 * problems use these two conditions, for a job {@code j} and a grace period of {@code :grace}
 * milliseconds.
 */
public final class LeaseExpiry {
  // A lease never counts as expired before the server has been up for a whole one: otherwise a
  // restart of the database would look like the death of every worker. Each row has the length of
  // its lease.
  private static final String ENDS =
      """
      greatest(j.lease_expires_at,
               pg_postmaster_start_time() + (j.lease_expires_at - j.heartbeat_at))
        + :grace * interval '1 millisecond'
      """;

  /** A reaper may take the job back. */
  public static final String RAN_OUT = Sql.fragment("${ends} < clock_timestamp()", "ends", ENDS);

  /**
   * A reaper could have taken the job back for as long as the lease lasted: reapers look several
   * times in that, so no reaper runs.
   */
  public static final String OVERDUE =
      Sql.fragment(
          "${ends} + (j.lease_expires_at - j.heartbeat_at) < statement_timestamp()", "ends", ENDS);

  private LeaseExpiry() {}
}
