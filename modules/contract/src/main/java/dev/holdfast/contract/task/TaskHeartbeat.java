package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.model.value.Limits;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A worker is still at it. */
public record TaskHeartbeat(
    int attempt,
    @Nullable String attemptId,
    String workerId,
    @Nullable Instant heartbeatAt,
    @Nullable Integer progressPct,
    @Nullable String message) {
  public TaskHeartbeat {
    Fields.attempt(attempt);
    Fields.worker(workerId);
    if (progressPct != null && (progressPct < 0 || progressPct > 100)) {
      throw Fields.wrong("progressPct", "must be between 0 and 100");
    }
    message = Fields.shortened(message, Limits.MESSAGE_CHARS);
  }

  /**
   * What it is answered.
   *
   * @param taskToken a fresh one, when the one that was shown will not last much longer
   * @param liveControl what operators ask of the task beyond cancelling it, if they do
   */
  public record Answer(
      boolean acknowledged,
      boolean shouldCancel,
      @Nullable String cancelReason,
      Instant serverTime,
      @Nullable String taskToken,
      @Nullable Instant tokenExpiresAt,
      @Nullable TaskCommands liveControl) {}
}
