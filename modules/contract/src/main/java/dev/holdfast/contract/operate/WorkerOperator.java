package dev.holdfast.contract.operate;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.ProcessExit;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What an operator can do with workers. A caller of one tenant may only list them. */
public interface WorkerOperator {
  Operator.Workers list();

  /** Since when all of them are paused; empty when they are not. */
  Optional<Instant> pausedAt();

  /** How the processes of a worker ended, the latest first. */
  List<ProcessExit> exits(String component, @Nullable String supervisor);

  /** What the processes of a worker printed, from a cursor on. */
  LogTail log(String component, String supervisor, LogCursor after);

  /**
   * Gives a command to worker processes.
   *
   * @param supervisor null for all that have a worker of that name
   */
  List<WorkerCommand> command(
      String component, @Nullable String supervisor, WorkerCommand.Action action, String reason);

  /** No worker claims a job from any queue; running jobs continue. */
  void pauseAll(String reason);

  /** Ends that, and gives every worker process that has failed the command to start again. */
  Resumed resumeAll(String reason);

  /**
   * @param workersWerePaused whether all workers were paused
   * @param commands to those that had failed
   */
  record Resumed(boolean workersWerePaused, List<WorkerCommand> commands) {
    public Resumed {
      commands = List.copyOf(commands);
    }
  }
}
