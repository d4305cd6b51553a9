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
   * @param workersPausedAt since when all workers are paused; null when they are not
   * @param workersWerePaused whether all workers were paused; only in the answer that resumes them
   * @param commands the commands that were given
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Accepted(
      @Nullable Instant workersPausedAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean workersWerePaused,
      List<WorkerCommandResource> commands) {
    public Accepted {
      commands = List.copyOf(Wire.present("commands", commands));
    }

    public static Accepted of(
        @Nullable Instant workersPausedAt,
        @Nullable Boolean workersWerePaused,
        List<WorkerCommand> commands) {
      return new Accepted(
          workersPausedAt,
          workersWerePaused,
          commands.stream().map(WorkerCommandResource::of).toList());
    }

    public List<WorkerCommand> workerCommands() {
      return commands.stream().map(WorkerCommandResource::command).toList();
    }
  }
}
