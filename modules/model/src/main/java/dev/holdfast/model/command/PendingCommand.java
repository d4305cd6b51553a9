package dev.holdfast.model.command;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What operators have asked of a job, as its worker hears it with every heartbeat.
 *
 * @param heldBy who asked for the pause or the takeover; null where a step was asked for since
 */
public record PendingCommand(
    boolean paused, boolean takeover, @Nullable Recovery recovery, @Nullable HeldBy heldBy) {
  public static final PendingCommand NONE = new PendingCommand(false, false, null, null);

  /** Who holds a job up, and why. */
  public record HeldBy(String requestedBy, String reason) {}

  /**
   * A step to be done again, once.
   *
   * @param updatedAt names this very request: whoever has honoured it says so with this
   */
  public record Recovery(
      CommandAction action, String stepId, String requestedBy, String reason, Instant updatedAt) {}

  /** Why no attempt may begin: a takeover, a pause, or null when nothing stands against it. */
  public @Nullable CommandAction hold() {
    return takeover ? CommandAction.TAKEOVER : paused ? CommandAction.PAUSE : null;
  }

  public boolean holds() {
    return hold() != null;
  }
}
