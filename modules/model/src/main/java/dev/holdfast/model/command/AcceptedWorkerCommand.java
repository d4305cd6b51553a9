package dev.holdfast.model.command;

import java.util.List;

/**
 * What became of a command to a worker.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public sealed interface AcceptedWorkerCommand {
  /** Its supervisors will do it. */
  record Given(List<WorkerCommand> commands) implements AcceptedWorkerCommand {
    public Given {
      commands = List.copyOf(commands);
    }
  }

  /** There is no such component. */
  record Unknown(String message) implements AcceptedWorkerCommand {}

  /**
   * The command cannot be carried out in this state, or no supervisor would do so.
   *
   * @param code {@code supervisor_silent}, {@code worker_stopped} or {@code worker_failed}
   */
  record Refused(String code, String message) implements AcceptedWorkerCommand {}
}
