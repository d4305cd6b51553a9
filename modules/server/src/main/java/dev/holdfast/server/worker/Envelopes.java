package dev.holdfast.server.worker;

import dev.holdfast.contract.task.TaskCommands;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.contract.token.TaskScope;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.attempt.Background;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.Queries;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the envelope of a leased job: all that a worker in any language needs to run it. */
public final class Envelopes {
  private static final Logger log = LoggerFactory.getLogger(Envelopes.class);

  private final Queries queries;
  private final TaskTokens tokens;
  private final Timings timings;
  private final InstantSource clock;
  private final Supplier<URI> callbackBaseUrl;

  public Envelopes(
      Queries queries,
      TaskTokens tokens,
      Timings timings,
      InstantSource clock,
      Supplier<URI> callbackBaseUrl) {
    this.queries = queries;
    this.tokens = tokens;
    this.timings = timings;
    this.clock = clock;
    this.callbackBaseUrl = callbackBaseUrl;
  }

  public TaskEnvelope of(LeasedJob job) {
    return of(List.of(job), timings.lease(), timings.cancelGrace()).getFirst();
  }

  /**
   * @param lease how long the leases last
   * @param cancelGrace how long a cancelled task has to stop
   */
  public List<TaskEnvelope> of(List<LeasedJob> jobs, Duration lease, Duration cancelGrace) {
    Map<JobId, Background> known = jobs.isEmpty() ? Map.of() : backgrounds(jobs);
    return jobs.stream()
        .map(job -> of(job, lease, cancelGrace, known.getOrDefault(job.id(), Background.NONE)))
        .toList();
  }

  private Map<JobId, Background> backgrounds(List<LeasedJob> jobs) {
    try {
      return queries.backgrounds(jobs.stream().map(LeasedJob::id).toList());
    } catch (DatabaseException unavailable) {
      // The tasks are leased already, and heartbeats bring commands later.
      log.info(
          "envelopes are sent without commands and earlier failures: {}", unavailable.getMessage());
      return Map.of();
    }
  }

  private TaskEnvelope of(LeasedJob job, Duration lease, Duration cancelGrace, Background known) {
    TaskScope scope =
        new TaskScope(job.tenant(), job.workspace(), job.run(), job.id(), job.lease().attempt());
    Instant deadline = deadline(job, known);
    TaskTokens.Signed token = tokens.sign(scope, deadline);
    return new TaskEnvelope(
        job.id(),
        job.run(),
        job.runKey(),
        job.attributes().assetId(),
        job.attributes().partitionKey(),
        job.tenant(),
        job.workspace(),
        job.lease().attempt(),
        scope.attemptId(),
        UUID.randomUUID().toString(),
        job.queue(),
        job.kind(),
        job.payload(),
        job.attributes().resources(),
        job.enqueuedAt(),
        deadline,
        job.attributes().traceparent(),
        job.attributes().tags().isEmpty() ? null : job.attributes().tags(),
        callbackBaseUrl.get().toString(),
        token.text(),
        token.expiresAt(),
        heartbeatMillis(lease),
        lease.toMillis(),
        lease.toSeconds(),
        cancelGrace.toMillis(),
        TaskCommands.ifAsked(known.pendingCommand()),
        TaskEnvelope.RetryContext.of(known.failure()),
        millis(job.timeout()),
        job.failures(),
        job.maxAttempts(),
        job.queueWait().toMillis(),
        millis(job.untilDeadline()),
        job.version() == 0 ? null : job.version(),
        (job.lease().attempt() == 1 && job.mayHaveSteps()) ? true : null);
  }

  private @Nullable Instant deadline(LeasedJob job, Background known) {
    if (known.deadline() != null || job.untilDeadline() == null) {
      return known.deadline();
    }
    // The background could not be read; this is right to the millisecond or so.
    return clock.instant().plus(job.untilDeadline()).truncatedTo(ChronoUnit.MILLIS);
  }

  /** As many heartbeats in a lease of this length as in the usual one. */
  private long heartbeatMillis(Duration lease) {
    long inProportion =
        Math.multiplyExact(timings.heartbeat().toMillis(), lease.toMillis())
            / timings.lease().toMillis();
    return Math.max(1, inProportion);
  }

  private static @Nullable Long millis(@Nullable Duration span) {
    return span == null ? null : span.toMillis();
  }
}
