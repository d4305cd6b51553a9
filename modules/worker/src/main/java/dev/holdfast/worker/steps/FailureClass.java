package dev.holdfast.worker.steps;

import java.util.Arrays;
import java.util.Locale;

/** What kind of trouble ended an attempt of a step, and so whether another one can help. */
public enum FailureClass {
  /** The next attempt may succeed. */
  TRANSIENT_RUNTIME(true),
  /** It hangs, or comes to the same end again and again. */
  STUCK_NO_PROGRESS(true),
  /** What was asked for cannot be done: a missing program, a payload that makes no sense. */
  DETERMINISTIC_CONTRACT(false),
  /** It is forbidden. */
  DETERMINISTIC_POLICY(false),
  /** The repository is not what it should be: no such ref, a patch that does not apply. */
  DETERMINISTIC_REPO(false);

  private final boolean retryable;

  FailureClass(boolean retryable) {
    this.retryable = retryable;
  }

  public boolean isRetryable() {
    return retryable;
  }

  /** Unknown texts are taken for transient. */
  public static FailureClass of(String text) {
    return Arrays.stream(values())
        .filter(one -> one.text().equals(text))
        .findFirst()
        .orElse(TRANSIENT_RUNTIME);
  }

  /** The name in events, metrics and files. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
