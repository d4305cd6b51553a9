package dev.holdfast.model.ops;

import dev.holdfast.model.job.JobId;
import java.time.Instant;
import java.util.List;

/**
 * A worker that holds leases.
 *
 * @param jobs those that it began last, when there are very many
 * @param heartbeatAt the latest of all of them
 * @param leaseExpiresAt the latest of all of them
 * @param oldestStart when it began the one that it has been at longest
 * @param queues those that its jobs come from
 */
public record Holder(
    String worker,
    long held,
    List<JobId> jobs,
    Instant heartbeatAt,
    Instant leaseExpiresAt,
    Instant oldestStart,
    List<String> queues) {
  public Holder {
    jobs = List.copyOf(jobs);
    queues = List.copyOf(queues);
  }

  /** All its leases have run out: it was not heard of for longer than they last. */
  public boolean isSilent(Instant now) {
    return leaseExpiresAt.isBefore(now);
  }
}
