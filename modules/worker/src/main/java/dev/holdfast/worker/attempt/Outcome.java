package dev.holdfast.worker.attempt;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a handler left. */
sealed interface Outcome {
  record Succeeded(@Nullable Json result) implements Outcome {}

  /** Already settled, in a transaction of the handler's own that is known to have committed. */
  record SettledItself() implements Outcome {}

  record Failed(Failure failure, @Nullable Duration retryAfter) implements Outcome {}

  record Snoozed(Duration delay) implements Outcome {}

  /** It did not leave: the grace period passed and the thread is given up. */
  record Abandoned() implements Outcome {}
}
