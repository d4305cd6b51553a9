package dev.holdfast.queue.sql;

/**
 * Whether the answer to a claim is known to have reached a worker.
 *
 * <p>A claim writes one time into {@code started_at} and {@code heartbeat_at}, and every heartbeat
 * a later one into the latter: while both are equal, the worker has sent none. {@code
 * claimed_over_http} tells an answer that may have been lost on its way from a worker with a
 * connection of its own, which had the job when its claim was committed.
 */
public final class ClaimDeliverySql {
  private ClaimDeliverySql() {}

  /** That the worker of a running job has sent no heartbeat yet. */
  public static String hasNoHeartbeat(String job) {
    return job + ".heartbeat_at = " + job + ".started_at";
  }

  /**
   * That the job was claimed over HTTP, and neither a heartbeat nor an event came since: perhaps no
   * worker received it.
   */
  public static String isUnconfirmed(String job) {
    return "(%1$s.claimed_over_http AND %2$s AND %1$s.event_count = %1$s.started_event_number)"
        .formatted(job, hasNoHeartbeat(job));
  }
}
