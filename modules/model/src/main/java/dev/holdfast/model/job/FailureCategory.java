package dev.holdfast.model.job;

/** Which kind of failure ended an attempt, and whether a retry can help. */
public enum FailureCategory {
  USER_CODE(true),
  DATA_QUALITY(false),
  INFRASTRUCTURE(true),
  CONFIGURATION(false),
  TIMEOUT(true),
  CANCELLED(false);

  private final boolean retryable;

  FailureCategory(boolean retryable) {
    this.retryable = retryable;
  }

  public boolean retryableByDefault() {
    return retryable;
  }
}
