package dev.holdfast.contract.task;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A task as a worker gets it: what to do, until when, and how to call back.
 *
 * @param taskKey names the task within its run
 * @param assetId what the task makes, where it makes something that has a name of its own
 * @param partitionKey which part of that
 * @param attemptId one name for this attempt at this task
 * @param dispatchId one name for this handing over
 * @param resources what the task needs, in terms that its submitter and its worker agree on
 * @param traceparent the trace it belongs to, as W3C Trace Context writes it
 * @param tags words by which people find it; absent where there are none
 * @param taskToken good for the callbacks of this attempt and nothing else
 * @param liveControl what an operator wants of the task beyond cancelling it
 * @param retryContext why the attempt before this one failed
 * @param timeoutMs how long this attempt may take
 * @param failures failed attempts that count against the budget so far
 * @param maxAttempts how many attempts may fail
 * @param queueWaitMs how long the task was due before it was claimed
 * @param deadlineMs how long it has left, for workers whose clock is not to be trusted
 * @param version of the handler that has begun it, and alone may go on with it; absent if any may
 * @param mayHaveSteps true if steps may be done although this is the first attempt: it is a fork
 */
public record TaskEnvelope(
    JobId taskId,
    JobId runId,
    String taskKey,
    @Nullable String assetId,
    @Nullable String partitionKey,
    String tenantId,
    String workspaceId,
    int attempt,
    String attemptId,
    String dispatchId,
    String workerQueue,
    String kind,
    Json payload,
    Json resources,
    Instant enqueuedAt,
    @Nullable Instant deadline,
    @Nullable String traceparent,
    @Nullable List<String> tags,
    String callbackBaseUrl,
    String taskToken,
    Instant tokenExpiresAt,
    long heartbeatIntervalMs,
    long heartbeatTimeoutMs,
    long heartbeatTimeoutSec,
    long cancelGracePeriodMs,
    @Nullable TaskCommands liveControl,
    @Nullable RetryContext retryContext,
    @Nullable Long timeoutMs,
    @Nullable Integer failures,
    @Nullable Integer maxAttempts,
    @Nullable Long queueWaitMs,
    @Nullable Long deadlineMs,
    @Nullable Integer version,
    @Nullable Boolean mayHaveSteps) {
  public TaskEnvelope {
    tags = tags == null ? null : List.copyOf(tags);
  }

  /** Why an attempt failed; never what it had said. */
  public record RetryContext(
      FailureCategory category, String code, String message, boolean retryable) {
    public static @Nullable RetryContext of(@Nullable Failure failure) {
      return failure == null
          ? null
          : new RetryContext(
              failure.category(), failure.code(), failure.message(), failure.retryable());
    }
  }

  /** Without what must not be read by others: the token. */
  @Override
  public String toString() {
    return "task %s attempt %d (%s)".formatted(taskId, attempt, kind);
  }
}
