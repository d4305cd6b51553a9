package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Thrown by a handler to say exactly how its attempt failed, and when to retry. */
public final class FailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Failure failure;
  private final @Nullable Duration retryAfter;

  /** Fails the attempt with this failure. */
  public FailedException(Failure failure) {
    this(failure, null);
  }

  /** {@code retryAfter} replaces the delay the kind's retry policy would choose. */
  public FailedException(Failure failure, @Nullable Duration retryAfter) {
    super(failure.message());
    this.failure = failure;
    this.retryAfter = retryAfter == null ? null : Limits.delay("retryAfter", retryAfter);
  }

  /** Retried, or not, as is usual for the category. */
  public static FailedException of(FailureCategory category, String code, String message) {
    return new FailedException(Failure.of(category, code, message));
  }

  /** What the attempt fails with. */
  public Failure failure() {
    return failure;
  }

  /** When to try again; null leaves it to the retry policy. */
  public @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
