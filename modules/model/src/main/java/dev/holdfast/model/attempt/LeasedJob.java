package dev.holdfast.model.attempt;

import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A job as a worker receives it. Times are durations, measured by the clock of the database; the
 * worker counts them down on its own monotonic clock.
 *
 * @param failures failed attempts that count against the budget so far
 * @param timeout how long this attempt may take
 * @param untilDeadline how long the job has left, from the moment of the claim
 * @param attributes what it passes to its worker besides the payload
 * @param mayHaveCommand whether an operator may have asked something of it before the claim
 * @param version of the handler that has begun it; 0 if any may run it
 * @param mayHaveSteps whether steps or waits may be known of it before this attempt
 */
public record LeasedJob(
    Lease lease,
    String kind,
    String queue,
    Json payload,
    String tenant,
    String workspace,
    JobId run,
    String runKey,
    Instant enqueuedAt,
    int failures,
    int maxAttempts,
    Duration queueWait,
    @Nullable Duration timeout,
    @Nullable Duration untilDeadline,
    JobAttributes attributes,
    boolean mayHaveCommand,
    int version,
    boolean mayHaveSteps) {

  /** Of which that is not known. */
  public LeasedJob(
      Lease lease,
      String kind,
      String queue,
      Json payload,
      String tenant,
      String workspace,
      JobId run,
      String runKey,
      Instant enqueuedAt,
      int failures,
      int maxAttempts,
      Duration queueWait,
      @Nullable Duration timeout,
      @Nullable Duration untilDeadline,
      JobAttributes attributes) {
    this(
        lease,
        kind,
        queue,
        payload,
        tenant,
        workspace,
        run,
        runKey,
        enqueuedAt,
        failures,
        maxAttempts,
        queueWait,
        timeout,
        untilDeadline,
        attributes,
        true,
        0,
        false);
  }

  /** Of the job, the same in every attempt. */
  public JobId id() {
    return lease.job();
  }

  /** The same with another payload. */
  public LeasedJob payload(Json value) {
    return new LeasedJob(
        lease,
        kind,
        queue,
        value,
        tenant,
        workspace,
        run,
        runKey,
        enqueuedAt,
        failures,
        maxAttempts,
        queueWait,
        timeout,
        untilDeadline,
        attributes,
        mayHaveCommand,
        version,
        mayHaveSteps);
  }
}
