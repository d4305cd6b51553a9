package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.Timings;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker asks for tasks.
 *
 * @param max how many it can run; 1 unless given
 * @param waitMs how long it waits for the first one; not at all unless given
 * @param leaseMs how long the leases last without a heartbeat, for a worker that says the same with
 *     each of its heartbeats; what the server gives all others unless given
 * @param cancelGracePeriodMs how long a cancelled task has to stop; as the server says unless given
 */
public record LeaseRequest(
    String workerId,
    @Nullable Integer max,
    @Nullable Long waitMs,
    @Nullable Long leaseMs,
    @Nullable Long cancelGracePeriodMs) {
  public static final int MOST = 100;
  public static final long LONGEST_WAIT_MS = 60_000;
  public static final long SHORTEST_LEASE_MS = 100;
  public static final long LONGEST_LEASE_MS = 86_400_000;
  public static final long LONGEST_GRACE_MS = 31_536_000_000L;

  public LeaseRequest {
    Fields.worker(workerId);
    if (max != null && (max < 1 || max > MOST)) {
      throw Fields.wrong("max", "must be between 1 and " + MOST);
    }
    if (waitMs != null && (waitMs < 0 || waitMs > LONGEST_WAIT_MS)) {
      throw Fields.wrong("waitMs", "must be between 0 and " + LONGEST_WAIT_MS);
    }
    if (leaseMs != null) {
      lease(leaseMs);
    }
    if (cancelGracePeriodMs != null
        && (cancelGracePeriodMs < 1 || cancelGracePeriodMs > LONGEST_GRACE_MS)) {
      throw Fields.wrong("cancelGracePeriodMs", "must lie between 1 and " + LONGEST_GRACE_MS);
    }
  }

  /** At once, by the timings of the worker. */
  public static LeaseRequest of(String worker, int most, Timings timings) {
    return new LeaseRequest(
        worker, most, 0L, timings.lease().toMillis(), timings.cancelGrace().toMillis());
  }

  public int most() {
    return max == null ? 1 : max;
  }

  public long waitMillis() {
    return waitMs == null ? 0 : waitMs;
  }

  static void lease(long leaseMs) {
    if (leaseMs < SHORTEST_LEASE_MS || leaseMs > LONGEST_LEASE_MS) {
      throw Fields.wrong(
          "leaseMs", "must be between " + SHORTEST_LEASE_MS + " and " + LONGEST_LEASE_MS);
    }
  }

  /**
   * None, if the wait timed out.
   *
   * @param nextDueInMs when there was none: how long until one becomes due, as far as it is known
   */
  public record Answer(List<TaskEnvelope> tasks, @Nullable Long nextDueInMs) {}
}
