package dev.holdfast.model.command;

import java.time.Instant;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The commands of operators to a job, as its worker receives them with every heartbeat.
 *
 * @param heldBy who requested the pause or the takeover; null when a command for a step followed
 */
public record PendingCommand(
    boolean paused, boolean takeover, @Nullable Recovery recovery, @Nullable HeldBy heldBy) {
  public static final PendingCommand NONE = new PendingCommand(false, false, null, null);

  /** Who holds a job up, and why. */
  public record HeldBy(String requestedBy, String reason) {}

  /**
   * A step to run again, once.
   *
   * @param updatedAt identifies this command: the worker acknowledges it with this time
   */
  public record Recovery(
      CommandAction action, String stepId, String requestedBy, String reason, Instant updatedAt) {
    /** In the same workspace, or in a new one; null where an operator did the step by hand. */
    public @Nullable String strategy() {
      if (action.dropsCheckpoints()) {
        return "hard_reset";
      }
      return action == CommandAction.RETRY_STEP ? "soft_reset" : null;
    }

    /**
     * Whether the command is for this step or an earlier one. What is asked of a later step waits
     * for it.
     *
     * @param isEarlier whether a step comes before this one
     */
    public boolean concerns(String step, Predicate<String> isEarlier) {
      return stepId.equals(step) || isEarlier.test(stepId);
    }
  }

  /** Why no attempt may begin: a takeover, a pause, or null when it may. */
  public @Nullable CommandAction hold() {
    return takeover ? CommandAction.TAKEOVER : paused ? CommandAction.PAUSE : null;
  }

  public boolean holds() {
    return hold() != null;
  }
}
