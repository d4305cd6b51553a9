package dev.holdfast.model.ops;

import dev.holdfast.model.job.JobId;
import java.time.Instant;
import java.util.List;

/**
 * A worker that holds leases.
 *
 * @param jobs its jobs; only those started last when there are very many
 * @param heartbeatAt the latest heartbeat of these jobs
 * @param leaseExpiresAt the latest expiry of these leases
 * @param oldestJobStartedAt when it started the job that has been running longest
 * @param queues the queues of its jobs
 */
public record Holder(
    String worker,
    long held,
    List<JobId> jobs,
    Instant heartbeatAt,
    Instant leaseExpiresAt,
    Instant oldestJobStartedAt,
    List<String> queues) {
  public Holder {
    jobs = List.copyOf(jobs);
    queues = List.copyOf(queues);
  }

  /** All its leases have run out: it sent no heartbeat for longer than they last. */
  public boolean isSilent(Instant now) {
    return leaseExpiresAt.isBefore(now);
  }
}
