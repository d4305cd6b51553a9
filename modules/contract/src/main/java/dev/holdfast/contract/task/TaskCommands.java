package dev.holdfast.contract.task;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import java.time.Instant;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The commands of operators to a task that its worker has not executed yet; field {@code
 * liveControl} of envelopes and heartbeats.
 *
 * @param paused no further attempt of a step begins
 * @param takeover the worker stops; the operator works by hand
 * @param heldBy who gave the command to pause or to take over; null if a step was asked for since
 */
public record TaskCommands(
    boolean paused,
    boolean takeover,
    @Nullable Recovery recovery,
    PendingCommand.@Nullable HeldBy heldBy) {
  /**
   * A command to do one step again.
   *
   * @param strategy in the same workspace, or in a new one; null for a step done by hand
   * @param updatedAt identifies the command; the worker acknowledges it with this value
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
          asked.strategy(),
          asked.requestedBy(),
          asked.reason(),
          asked.updatedAt());
    }

    /** Null for an action of a newer server that this worker does not know. */
    private PendingCommand.@Nullable Recovery known() {
      return Stream.of(CommandAction.values())
          .filter(each -> each.isRecovery() && each.text().equals(action))
          .map(each -> new PendingCommand.Recovery(each, stepId, requestedBy, reason, updatedAt))
          .findFirst()
          .orElse(null);
    }
  }

  public static TaskCommands of(PendingCommand pending) {
    PendingCommand.Recovery asked = pending.recovery();
    return new TaskCommands(
        pending.paused(),
        pending.takeover(),
        asked == null ? null : Recovery.of(asked),
        pending.heldBy());
  }

  /** Null without any command. */
  public static @Nullable TaskCommands ifAsked(PendingCommand pending) {
    return pending.equals(PendingCommand.NONE) ? null : of(pending);
  }

  public static PendingCommand pending(@Nullable TaskCommands commands) {
    return commands == null
        ? PendingCommand.NONE
        : new PendingCommand(
            commands.paused(),
            commands.takeover(),
            commands.recovery() == null ? null : commands.recovery().known(),
            commands.heldBy());
  }
}
