package dev.holdfast.model;

import java.time.Instant;
import java.util.List;

/**
 * A worker that holds leases.
 *
 * @param jobs those that it began last, when there are very many
 * @param heartbeatAt the latest of all of them
 * @param leaseExpiresAt the latest of all of them
 */
public record Holder(
    String worker, long held, List<JobId> jobs, Instant heartbeatAt, Instant leaseExpiresAt) {
  public Holder {
    jobs = List.copyOf(jobs);
  }
}
