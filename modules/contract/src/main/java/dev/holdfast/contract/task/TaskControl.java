package dev.holdfast.contract.task;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import java.time.Instant;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What operators ask of a task at this moment.
 *
 * @param paused no further attempt of a step is to begin
 * @param takeover work is to stop; the operator does it by hand
 * @param heldBy who asked for that, and why; null where a step was asked for since
 */
public record TaskControl(
    boolean paused,
    boolean takeover,
    @Nullable Recovery recovery,
    PendingCommand.@Nullable HeldBy heldBy) {
  /**
   * A step to be done again, once.
   *
   * @param strategy in the same workspace, or in a new one; null for one that was done by hand
   * @param updatedAt names this very request: whoever has honoured it says so with this
   */
  public record Recovery(
      String action,
      String stepId,
      @Nullable String strategy,
      String requestedBy,
      String reason,
      Instant updatedAt) {
    private static Recovery of(PendingCommand.Recovery asked) {
      return new Recovery(
          asked.action().text(),
          asked.stepId(),
          TaskControl.strategy(asked.action()),
          asked.requestedBy(),
          asked.reason(),
          asked.updatedAt());
    }

    /** A server may be newer than its workers: what they cannot do, they leave alone. */
    private PendingCommand.@Nullable Recovery known() {
      return Stream.of(CommandAction.values())
          .filter(each -> each.isRecovery() && each.text().equals(action))
          .map(each -> new PendingCommand.Recovery(each, stepId, requestedBy, reason, updatedAt))
          .findFirst()
          .orElse(null);
    }
  }

  /** How a step is done again; null where an operator did it by hand. */
  public static @Nullable String strategy(CommandAction action) {
    if (action.dropsCheckpoints()) {
      return "hard_reset";
    }
    return action == CommandAction.RETRY_STEP ? "soft_reset" : null;
  }

  public static TaskControl of(PendingCommand control) {
    PendingCommand.Recovery asked = control.recovery();
    return new TaskControl(
        control.paused(),
        control.takeover(),
        asked == null ? null : Recovery.of(asked),
        control.heldBy());
  }

  /** Nothing where nothing is asked. */
  public static @Nullable TaskControl ifAsked(PendingCommand control) {
    return control.equals(PendingCommand.NONE) ? null : of(control);
  }

  public static PendingCommand control(@Nullable TaskControl asked) {
    return asked == null
        ? PendingCommand.NONE
        : new PendingCommand(
            asked.paused(),
            asked.takeover(),
            asked.recovery() == null ? null : asked.recovery().known(),
            asked.heldBy());
  }
}
