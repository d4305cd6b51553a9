package dev.holdfast.contract.lease;

import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads from an envelope what a worker of ours works with. */
public final class Envelope {
  private Envelope() {}

  public static LeasedJob job(TaskEnvelope task) {
    @Nullable Json payload = task.payload();
    return new LeasedJob(
        new Lease(task.taskId(), task.attempt()),
        task.kind(),
        task.workerQueue(),
        payload == null ? new Json("null") : payload,
        task.tenantId(),
        task.workspaceId(),
        task.runId(),
        task.taskKey(),
        task.enqueuedAt(),
        task.failures() == null ? 0 : task.failures(),
        task.maxAttempts() == null ? 1 : task.maxAttempts(),
        task.queueWaitMs() == null ? Duration.ZERO : Duration.ofMillis(task.queueWaitMs()),
        span(task.timeoutMs()),
        span(task.deadlineMs()),
        attributes(task),
        task.liveControl() != null,
        task.version() == null ? 0 : task.version(),
        task.attempt() > 1 || Boolean.TRUE.equals(task.mayHaveSteps()));
  }

  private static JobAttributes attributes(TaskEnvelope task) {
    @Nullable Json resources = task.resources();
    return new JobAttributes(
        task.assetId(),
        task.partitionKey(),
        resources == null ? Json.EMPTY : resources,
        task.traceparent(),
        task.tags() == null ? List.of() : task.tags());
  }

  private static @Nullable Duration span(@Nullable Long millis) {
    return millis == null ? null : Duration.ofMillis(millis);
  }
}
