package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything there is to know about a job at one moment, except its timeline.
 *
 * @param omitted what it has and what is not here, because it is long and this is one of a page of
 *     jobs, or because it cannot be read: {@value #PAYLOAD}, {@value #RESULT} or {@value
 *     #STACK_TRACE}
 */
public record JobStatus(
    JobId id,
    String kind,
    String queue,
    JobState state,
    int priority,
    Json payload,
    @Nullable Json result,
    @Nullable Failure failure,
    int attempt,
    int failures,
    int maxAttempts,
    int crashes,
    int maxCrashes,
    @Nullable Integer progress,
    @Nullable String progressMessage,
    @Nullable String worker,
    @Nullable Instant heartbeatAt,
    @Nullable Instant leaseExpiresAt,
    Instant createdAt,
    Instant runAt,
    @Nullable Instant startedAt,
    @Nullable Instant finishedAt,
    @Nullable Instant cancelRequestedAt,
    @Nullable String cancelReason,
    @Nullable Instant deadline,
    String tenant,
    String workspace,
    JobId run,
    String runKey,
    @Nullable JobId parent,
    @Nullable String uniqueKey,
    @Nullable String concurrencyKey,
    JobAttributes attributes,
    List<String> omitted) {
  public static final String PAYLOAD = "payload";
  public static final String RESULT = "result";
  public static final String STACK_TRACE = "failure.stackTrace";

  public JobStatus {
    omitted = List.copyOf(omitted);
  }
}
