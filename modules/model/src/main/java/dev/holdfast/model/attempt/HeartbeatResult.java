package dev.holdfast.model.attempt;

import dev.holdfast.model.command.PendingCommand;
import org.jspecify.annotations.Nullable;

/**
 * What a heartbeat learned about one lease.
 *
 * @param busy whether somebody else was just writing the job, so that the lease was not extended,
 *     and the answer is that of a moment ago; of a lease that had run out only where that somebody
 *     did not let go of it for a while, as a reaper does
 */
public record HeartbeatResult(
    Lease lease, Ack ack, @Nullable String cancelReason, PendingCommand control, boolean busy) {
  public HeartbeatResult(
      Lease lease, Ack ack, @Nullable String cancelReason, PendingCommand control) {
    this(lease, ack, cancelReason, control, false);
  }

  public HeartbeatResult(Lease lease, Ack ack, @Nullable String cancelReason) {
    this(lease, ack, cancelReason, PendingCommand.NONE);
  }

  public boolean cancelRequested() {
    return cancelReason != null;
  }
}
