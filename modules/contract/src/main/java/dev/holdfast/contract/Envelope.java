package dev.holdfast.contract;

import dev.holdfast.model.JobAttributes;
import dev.holdfast.model.Json;
import dev.holdfast.model.Lease;
import dev.holdfast.model.LeasedJob;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads from an envelope what a worker of ours works with. */
final class Envelope {
  private Envelope() {}

  static LeasedJob job(TaskEnvelope task) {
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
        attributes(task));
  }

  private static JobAttributes attributes(TaskEnvelope task) {
    @Nullable Json resources = task.resources();
    return new JobAttributes(
        task.assetId(),
        task.partitionKey(),
        resources == null ? Json.EMPTY : resources,
        task.traceparent());
  }

  private static @Nullable Duration span(@Nullable Long millis) {
    return millis == null ? null : Duration.ofMillis(millis);
  }
}
