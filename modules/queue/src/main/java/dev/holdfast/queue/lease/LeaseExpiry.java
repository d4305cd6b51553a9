package dev.holdfast.queue.lease;

import dev.holdfast.queue.jdbc.Sql;

/**
 * When a lease has run out, and when it is overdue. The reaper, the health check and the list of
 * problems judge leases by these two conditions, for a job {@code j} and a grace period of {@code
 * :grace} milliseconds.
 */
public final class LeaseExpiry {
  // A lease is never judged before the server has been up for a whole one: otherwise a restart of
  // the database would look like the death of every worker. How long a lease is, each row tells.
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
   * times in that, so none is at work.
   */
  public static final String OVERDUE =
      Sql.fragment(
          "${ends} + (j.lease_expires_at - j.heartbeat_at) < statement_timestamp()", "ends", ENDS);

  private LeaseExpiry() {}
}
