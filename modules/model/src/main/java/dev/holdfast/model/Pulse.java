package dev.holdfast.model;

import org.jspecify.annotations.Nullable;

/**
 * What a heartbeat learned about one lease.
 *
 * @param busy whether somebody else was just writing the job, so that the lease was not extended,
 *     and the answer is that of a moment ago; of a lease that had run out only where that somebody
 *     did not let go of it for a while, as a reaper does
 */
public record Pulse(
    Lease lease, Ack ack, @Nullable String cancelReason, LiveControl control, boolean busy) {
  public Pulse(Lease lease, Ack ack, @Nullable String cancelReason, LiveControl control) {
    this(lease, ack, cancelReason, control, false);
  }

  public Pulse(Lease lease, Ack ack, @Nullable String cancelReason) {
    this(lease, ack, cancelReason, LiveControl.NONE);
  }

  public boolean cancelRequested() {
    return cancelReason != null;
  }
}
