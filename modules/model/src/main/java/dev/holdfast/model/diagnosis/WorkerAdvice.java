package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;

/** Parts of the advice about one worker process. */
final class WorkerAdvice {
  private WorkerAdvice() {}

  static String log(WorkerHealth row) {
    return "'holdfast logs " + row.component() + "'";
  }

  static String command(WorkerHealth row, String action) {
    return "'holdfast workers " + action + " " + row.component() + "'";
  }

  static String request(WorkerHealth row, String action) {
    return "POST /v1/workers/" + row.component() + "/" + action;
  }

  static String reason(WorkerHealth row) {
    return row.reason() == null ? "for an unknown reason" : row.reason();
  }

  /** What the exit code suggests, in parentheses; empty when it suggests nothing. */
  static String ofExitCode(WorkerHealth row) {
    // A process that its supervisor killed has the exit code of that, which explains nothing.
    Integer exit = row.exitCode();
    String advice =
        exit == null || !reason(row).contains(WorkerExit.shown(exit))
            ? "nothing"
            : WorkerExit.of(exit).hint();
    return advice.equals("nothing") ? "" : " (" + advice + ")";
  }
}
