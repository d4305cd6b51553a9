package dev.holdfast.contract;

import dev.holdfast.model.Ack;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Pulse;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker is still at all of these.
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
  public record Answer(List<Beat> pulses) {}

  /**
   * What is known of one lease.
   *
   * @param cancelReason why it should stop, if it should
   * @param liveControl what operators ask of it, if they do
   */
  public record Beat(
      JobId taskId,
      int attempt,
      Ack ack,
      @Nullable String cancelReason,
      @Nullable TaskControl liveControl) {
    public static Beat of(Pulse pulse) {
      Lease lease = pulse.lease();
      return new Beat(
          lease.job(),
          lease.attempt(),
          pulse.ack(),
          pulse.cancelReason(),
          TaskControl.ifAsked(pulse.control()));
    }

    public Pulse pulse() {
      return new Pulse(
          new Lease(taskId, attempt), ack, cancelReason, TaskControl.control(liveControl));
    }
  }
}
