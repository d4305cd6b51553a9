package dev.holdfast.chaos.cluster;

/**
 * What one failover was like.
 *
 * @param fault what caused it
 * @param primary the node that took over
 * @param promotedMillis until Patroni had made it the primary, or the lost node was given back
 * @param outageMillis from the last acknowledged enqueue before to the first after which a client
 *     never waited a second for the next
 * @param firstStartMillis from the end of that time to the first start of a job
 */
public record Failover(
    String fault, String primary, long promotedMillis, long outageMillis, long firstStartMillis) {
  @Override
  public String toString() {
    return "%s: node %s is the primary after %.1f s, no enqueue acknowledged for %.1f s, first job %d ms later"
        .formatted(
            fault, primary, promotedMillis / 1000.0, outageMillis / 1000.0, firstStartMillis);
  }
}
