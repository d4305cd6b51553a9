package dev.holdfast.model.job;

/** What kind of trouble ended an attempt, and whether trying again can help. */
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
