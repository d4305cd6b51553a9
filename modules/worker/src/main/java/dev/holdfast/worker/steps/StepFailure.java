package dev.holdfast.worker.steps;

import dev.holdfast.model.job.Failure;

/**
 * How an attempt of a step failed.
 *
 * @param lastLines what its program printed last
 * @param text what the failure is recognised by when it happens again
 */
record StepFailure(FailureClass failureClass, String message, String lastLines, String text) {

  static StepFailure timedOut(boolean wall, boolean leftBehind, Budgets budgets) {
    String text =
        wall
            ? "took longer than %s s".formatted(budgets.stepTimeout().toMillis() / 1000.0)
            : "gave no sign of life for %s s"
                .formatted(budgets.stepIdleTimeout().toMillis() / 1000.0);
    return new StepFailure(
        FailureClass.STUCK_NO_PROGRESS,
        text + (leftBehind ? " and ignored being stopped" : ""),
        "",
        text);
  }

  static StepFailure thrown(Throwable thrown) {
    if (thrown instanceof RuntimeFailedException runtime) {
      // Not by its last lines: some programs never print the same twice.
      String message = String.valueOf(runtime.getMessage());
      return new StepFailure(runtime.failureClass(), message, runtime.lastLines(), message);
    }
    Failure failure = Failure.from(thrown);
    String trace = failure.stackTrace();
    // Holdfast's own messages need no exception's name in front.
    String message =
        thrown instanceof StepException ? String.valueOf(thrown.getMessage()) : failure.message();
    return new StepFailure(
        Classifier.of(thrown), message, "", trace == null ? failure.message() : trace);
  }
}
