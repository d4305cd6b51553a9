package dev.holdfast.worker.steps;

import java.util.Locale;

/** What comes after a failed attempt of a step. */
public enum Strategy {
  /** Once more in the same workspace, with the failure as context. */
  SOFT_RESET,
  /** Once more in a new workspace, rebuilt from the checkpoints before the step. */
  HARD_RESET,
  /** The job goes back to its queue; another worker continues from the checkpoints. */
  QUEUE_RETRY,
  /** Nothing: trying again would not help. */
  FAIL;

  /** The name in events, metrics and files. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
