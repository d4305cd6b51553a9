package dev.holdfast.model.attempt;

import dev.holdfast.model.command.PendingCommand;
import org.jspecify.annotations.Nullable;

/**
 * The result of a heartbeat for one lease.
 *
 * @param rowLocked whether another transaction had locked the job, so that the lease was not
 *     extended and the other values may be a moment old; for an expired lease the heartbeat first
 *     waits a while for that transaction, which may be a reaper's
 * @param first whether no heartbeat came before; only set beside a cancellation or a command
 */
public record HeartbeatResult(
    Lease lease,
    Ack ack,
    @Nullable String cancelReason,
    PendingCommand pendingCommand,
    boolean rowLocked,
    boolean first) {
  public HeartbeatResult(
      Lease lease, Ack ack, @Nullable String cancelReason, PendingCommand pendingCommand) {
    this(lease, ack, cancelReason, pendingCommand, false, false);
  }

  public HeartbeatResult(Lease lease, Ack ack, @Nullable String cancelReason) {
    this(lease, ack, cancelReason, PendingCommand.NONE);
  }

  public boolean cancelRequested() {
    return cancelReason != null;
  }
}
