package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A worker began to execute an attempt. */
public record TaskStarted(
    int attempt, @Nullable String attemptId, String workerId, @Nullable Instant startedAt) {
  public TaskStarted {
    Fields.attempt(attempt);
    Fields.worker(workerId);
  }

  /**
   * What it is answered.
   *
   * @param taskToken a fresh one, when the one that was shown will not last much longer
   */
  public record Answer(
      boolean acknowledged,
      Instant serverTime,
      @Nullable String taskToken,
      @Nullable Instant tokenExpiresAt) {}
}
