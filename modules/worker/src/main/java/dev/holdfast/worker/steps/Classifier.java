package dev.holdfast.worker.steps;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.value.RefusedException;

/**
 * What kind of trouble a throwable or an exit code is. Only what is known for sure is final.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Classifier {
  // From sysexits.h, and what shells answer for a program they cannot run.
  private static final int USAGE = 64;
  private static final int BAD_DATA = 65;
  private static final int NO_INPUT = 66;
  private static final int NO_PERMISSION = 77;
  private static final int BAD_CONFIGURATION = 78;
  private static final int NOT_EXECUTABLE = 126;
  private static final int NOT_FOUND = 127;

  private Classifier() {}

  static FailureClass of(Throwable thrown) {
    return switch (thrown) {
      case StepException step -> step.failureClass();
      case RuntimeFailedException runtime -> runtime.failureClass();
      case FailedException failed ->
          failed.failure().retryable()
              ? FailureClass.TRANSIENT_RUNTIME
              : FailureClass.DETERMINISTIC_CONTRACT;
      case RefusedException refused -> FailureClass.DETERMINISTIC_CONTRACT;
      case SecurityException forbidden -> FailureClass.DETERMINISTIC_POLICY;
      default -> FailureClass.TRANSIENT_RUNTIME;
    };
  }

  public static FailureClass ofExit(int code) {
    return switch (code) {
      case USAGE, BAD_DATA, NO_INPUT, BAD_CONFIGURATION, NOT_EXECUTABLE, NOT_FOUND ->
          FailureClass.DETERMINISTIC_CONTRACT;
      case NO_PERMISSION -> FailureClass.DETERMINISTIC_POLICY;
      default -> FailureClass.TRANSIENT_RUNTIME;
    };
  }
}
