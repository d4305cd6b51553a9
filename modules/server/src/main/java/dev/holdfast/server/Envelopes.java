package dev.holdfast.server;

import dev.holdfast.contract.TaskEnvelope;
import dev.holdfast.contract.TaskScope;
import dev.holdfast.contract.TaskTokens;
import dev.holdfast.model.Json;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.Timings;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Makes of a leased job what a worker anywhere can work on. */
final class Envelopes {
  private final TaskTokens tokens;
  private final Timings timings;
  private final InstantSource clock;
  private final URI callbackBaseUrl;

  Envelopes(TaskTokens tokens, Timings timings, InstantSource clock, URI callbackBaseUrl) {
    this.tokens = tokens;
    this.timings = timings;
    this.clock = clock;
    this.callbackBaseUrl = callbackBaseUrl;
  }

  TaskEnvelope of(LeasedJob job) {
    return of(job, timings.lease());
  }

  /**
   * @param lease how long it lasts, where that is not as usual
   */
  TaskEnvelope of(LeasedJob job, Duration lease) {
    TaskScope scope =
        new TaskScope(job.tenant(), job.workspace(), job.run(), job.id(), job.lease().attempt());
    Instant deadline =
        job.untilDeadline() == null
            ? null
            : clock.instant().plus(job.untilDeadline()).truncatedTo(ChronoUnit.MILLIS);
    TaskTokens.Signed token = tokens.sign(scope, deadline);
    return new TaskEnvelope(
        job.id(),
        job.run(),
        job.runKey(),
        null,
        job.tenant(),
        job.workspace(),
        job.lease().attempt(),
        job.id() + "." + job.lease().attempt(),
        UUID.randomUUID().toString(),
        job.queue(),
        job.kind(),
        job.payload(),
        Json.EMPTY,
        job.enqueuedAt(),
        deadline,
        null,
        callbackBaseUrl.toString(),
        token.text(),
        token.expiresAt(),
        Math.min(timings.heartbeat().toMillis(), lease.toMillis() / 2),
        lease.toMillis(),
        lease.toSeconds(),
        timings.cancelGrace().toMillis(),
        null,
        null,
        millis(job.timeout()),
        job.failures(),
        job.maxAttempts(),
        job.queueWait().toMillis(),
        millis(job.untilDeadline()));
  }

  private static @Nullable Long millis(@Nullable Duration span) {
    return span == null ? null : span.toMillis();
  }
}
