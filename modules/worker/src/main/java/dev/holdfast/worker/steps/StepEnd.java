package dev.holdfast.worker.steps;

import dev.holdfast.model.command.PendingCommand.Recovery;
import org.jspecify.annotations.Nullable;

/** How the loop has left a step that has not failed. */
public sealed interface StepEnd<T extends @Nullable Object> {
  record Done<T extends @Nullable Object>(T result) implements StepEnd<T> {}

  /** An operator wants to continue at another step. */
  record Elsewhere<T extends @Nullable Object>(Recovery wanted) implements StepEnd<T> {}

  /**
   * A hard reset where no workspace can be reset: the state of the step is its caller's, who calls
   * the handler again.
   */
  record CallAgain<T extends @Nullable Object>() implements StepEnd<T> {}
}
