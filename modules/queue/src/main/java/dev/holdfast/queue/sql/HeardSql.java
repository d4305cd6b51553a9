package dev.holdfast.queue.sql;

import dev.holdfast.queue.jdbc.Sql;

/**
 * Whether a worker was heard of since its claim.
 *
 * <p>A claim writes one time into {@code started_at} and {@code heartbeat_at}, and every heartbeat
 * a later one into the latter: while both are equal, the worker sent none. If the answer to the
 * claim goes on over HTTP, {@code heartbeat_at} is a microsecond earlier, so that the row tells an
 * answer that may never have arrived from a worker of this process that died soon after its claim.
 */
public final class HeardSql {
  private HeardSql() {}

  /**
   * The {@code heartbeat_at} of a claim.
   *
   * @param remote an expression: whether the answer goes on over HTTP
   */
  public static String atClaim(String remote) {
    return Sql.fragment(
        "CASE WHEN ${remote} THEN ${earlier} ELSE statement_timestamp() END",
        "remote",
        remote,
        "earlier",
        earlier("statement_timestamp()"));
  }

  /** That the worker of a running job, which was not claimed over HTTP, sent no heartbeat yet. */
  public static String isUnheard(String job) {
    return job + ".heartbeat_at = " + job + ".started_at";
  }

  /**
   * That the job was claimed over HTTP, and neither a heartbeat nor an event came since: perhaps
   * nobody got it.
   */
  public static String isUnconfirmed(String job) {
    return "(%1$s.heartbeat_at = %2$s AND %1$s.event_count = %1$s.started_event_number)"
        .formatted(job, earlier(job + ".started_at"));
  }

  private static String earlier(String time) {
    return time + " - interval '1 microsecond'";
  }
}
