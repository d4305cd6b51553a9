package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskCommands;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The commands of operators to a job that its worker has not executed yet.
 *
 * @param heldBy who asked for the pause or the takeover; absent where there is none
 * @param stepsToRepeat steps whose checkpoints the recovery will drop; absent without any
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record PendingCommandResource(
    boolean paused,
    boolean takeover,
    @JsonInclude(JsonInclude.Include.NON_NULL) PendingCommand.@Nullable HeldBy heldBy,
    @Nullable Recovery recovery,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<String> stepsToRepeat) {
  /**
   * A command to do one step again.
   *
   * @param strategy {@code soft_reset}, {@code hard_reset}, or null for a step done by hand
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Recovery(
      String action,
      String stepId,
      @Nullable String strategy,
      String requestedBy,
      String reason,
      Instant updatedAt) {
    Recovery {
      Wire.present("action", action);
      Wire.present("stepId", stepId);
      Wire.present("requestedBy", requestedBy);
      Wire.present("reason", reason);
      Wire.present("updatedAt", updatedAt);
    }

    private static Recovery of(PendingCommand.Recovery asked) {
      return new Recovery(
          asked.action().text(),
          asked.stepId(),
          TaskCommands.strategy(asked.action()),
          asked.requestedBy(),
          asked.reason(),
          asked.updatedAt());
    }

    private PendingCommand.Recovery command() {
      return new PendingCommand.Recovery(
          CommandAction.of(action), stepId, requestedBy, reason, updatedAt);
    }
  }

  public static PendingCommandResource of(PendingCommand pending) {
    return of(pending, List.of());
  }

  public static PendingCommandResource of(PendingCommand pending, List<String> stepsToRepeat) {
    PendingCommand.Recovery asked = pending.recovery();
    return new PendingCommandResource(
        pending.paused(),
        pending.takeover(),
        pending.heldBy(),
        asked == null ? null : Recovery.of(asked),
        stepsToRepeat.isEmpty() ? null : List.copyOf(stepsToRepeat));
  }

  public PendingCommand pending() {
    return new PendingCommand(
        paused, takeover, recovery == null ? null : recovery.command(), heldBy);
  }

  /** The field of a job that holds its commands; absent without any. */
  public record OfJob(@Nullable PendingCommandResource liveControl) {
    public PendingCommand pending() {
      return liveControl == null ? PendingCommand.NONE : liveControl.pending();
    }
  }
}
