package dev.holdfast.model;

import org.jspecify.annotations.Nullable;

/** What a heartbeat learned about one lease. */
public record Pulse(Lease lease, Ack ack, @Nullable String cancelReason, LiveControl control) {
  public Pulse(Lease lease, Ack ack, @Nullable String cancelReason) {
    this(lease, ack, cancelReason, LiveControl.NONE);
  }

  public boolean cancelRequested() {
    return cancelReason != null;
  }
}
