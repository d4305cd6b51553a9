package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.command.WorkerCommand;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A command to a worker process. */
public record WorkerCommandResource(
    long id,
    String supervisor,
    String component,
    String action,
    String requestedBy,
    String reason,
    Instant requestedAt) {
  public WorkerCommandResource {
    Wire.present("supervisor", supervisor);
    Wire.present("component", component);
    Wire.present("action", action);
    Wire.present("requestedBy", requestedBy);
    Wire.present("reason", reason);
    Wire.present("requestedAt", requestedAt);
  }

  public static WorkerCommandResource of(WorkerCommand command) {
    return new WorkerCommandResource(
        command.id(),
        command.supervisor(),
        command.component(),
        command.action().text(),
        command.requestedBy(),
        command.reason(),
        command.requestedAt());
  }

  public WorkerCommand command() {
    return new WorkerCommand(
        id,
        supervisor,
        component,
        WorkerCommand.Action.of(action),
        requestedBy,
        reason,
        requestedAt);
  }

  /**
   * The answer to commands to workers.
   *
   * @param pausedSince since when all workers are paused; null when they are not
   * @param wasPaused whether all workers were paused; only in the answer that resumes them
   * @param orders the commands that were given
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Accepted(
      @Nullable Instant pausedSince,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean wasPaused,
      List<WorkerCommandResource> orders) {
    public Accepted {
      orders = List.copyOf(Wire.present("orders", orders));
    }

    public static Accepted of(
        @Nullable Instant pausedSince, @Nullable Boolean wasPaused, List<WorkerCommand> commands) {
      return new Accepted(
          pausedSince, wasPaused, commands.stream().map(WorkerCommandResource::of).toList());
    }

    public List<WorkerCommand> commands() {
      return orders.stream().map(WorkerCommandResource::command).toList();
    }
  }
}
