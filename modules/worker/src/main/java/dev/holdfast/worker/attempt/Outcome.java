package dev.holdfast.worker.attempt;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.handler.ChildFailedException;
import dev.holdfast.worker.handler.SnoozeException;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** How a handler ended. */
sealed interface Outcome {
  record Succeeded(@Nullable Json result) implements Outcome {}

  /** Already settled, in a transaction of the handler's own that is known to have committed. */
  record SettledItself() implements Outcome {}

  /** Its work is done, and another job goes on with this payload. */
  record Continued(Json payload) implements Outcome {}

  /** It waits for something: its attempt has ended, and a later one continues. */
  record Suspended() implements Outcome {}

  record Failed(Failure failure, @Nullable Duration retryAfter) implements Outcome {}

  record Snoozed(Duration delay) implements Outcome {}

  /** It did not begin, because another attempt may run by now. */
  record LostBeforeItBegan() implements Outcome {}

  /** It did not end: the grace period has passed, and its thread is abandoned. */
  record Abandoned() implements Outcome {}

  static Outcome failed(FailureCategory category, String code, String message) {
    return new Failed(Failure.of(category, code, message), null);
  }

  static Outcome thrown(Throwable thrown) {
    return switch (thrown) {
      case SnoozeException snooze -> new Snoozed(snooze.delay());
      // Another attempt would find the same.
      case ChildFailedException child ->
          new Failed(Failure.from(child).withCode(Failure.CHILD_FAILED), null);
      case FailedException failed -> new Failed(Failure.from(failed), failed.retryAfter());
      // Only the report about the work was wrong: the work itself may succeed the next time.
      case RefusedException wrong
          when wrong.refusal() == Refusal.BAD_PROGRESS || wrong.refusal() == Refusal.BAD_DELAY ->
          new Failed(notStorable(wrong).withRetryable(true), null);
      case RefusedException refused -> new Failed(notStorable(refused), null);
      case OutOfMemoryError memory ->
          failed(FailureCategory.INFRASTRUCTURE, "OUT_OF_MEMORY", String.valueOf(memory));
      default -> new Failed(Failure.from(thrown), null);
    };
  }

  static Failure notStorable(RefusedException refused) {
    return Failure.from(refused).withCode(refused.refusal().name());
  }

  /** An exception, or the last lines of a program, may hold a secret. */
  default Outcome redacted(UnaryOperator<String> redact) {
    return this instanceof Failed(var failure, var after)
        ? new Failed(failure.scrubbed(redact), after)
        : this;
  }
}
