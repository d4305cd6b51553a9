package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.task.TaskCommands;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Extends these leases.
 *
 * @param leaseMs how long the leases are to last from now on
 */
public record LeaseHeartbeat(long leaseMs, List<HeldLease> leases) {
  public static final int MOST = 1_000;

  public LeaseHeartbeat {
    LeaseRequest.lease(leaseMs);
    leases = Fields.list("leases", leases, MOST);
  }

  /** What is known of each lease. */
  public record Answer(List<Status> leases) {}

  /**
   * What is known of one lease.
   *
   * @param cancelReason why it should stop, if it should
   * @param liveControl the pending command of an operator, if there is one
   */
  public record Status(
      JobId taskId,
      int attempt,
      Ack ack,
      @Nullable String cancelReason,
      @Nullable TaskCommands liveControl) {
    public static Status of(HeartbeatResult result) {
      Lease lease = result.lease();
      return new Status(
          lease.job(),
          lease.attempt(),
          result.ack(),
          result.cancelReason(),
          TaskCommands.ifAsked(result.pendingCommand()));
    }

    public HeartbeatResult result() {
      return new HeartbeatResult(
          new Lease(taskId, attempt), ack, cancelReason, TaskCommands.pending(liveControl));
    }
  }
}
