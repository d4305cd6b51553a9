package dev.holdfast.model.job;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.OpenWait;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything there is to know about a job at one moment, except its timeline.
 *
 * @param execution how often it has run, and how far it is
 * @param waitsFor what its handler waits for; null where it waits for nothing, or for jobs that it
 *     depends on
 */
public record JobStatus(
    JobId id,
    String kind,
    String queue,
    JobState state,
    int priority,
    Execution execution,
    Times times,
    Cancel cancel,
    Relations relations,
    @Nullable OpenWait waitsFor,
    JobAttributes attributes,
    Content content) {
  public static final String PAYLOAD = "payload";
  public static final String RESULT = "result";
  public static final String STACK_TRACE = "failure.stackTrace";

  private static final Json NOTHING = new Json("null");

  /**
   * Its attempts, and its progress in the last one.
   *
   * @param attempt the number of the last one, 0 before the first
   * @param failures attempts that failed and count against {@code maxAttempts}
   * @param crashes attempts whose worker died; they count against {@code maxCrashes}
   * @param worker that holds it, or held it last
   * @param version of the handler that has begun it, and alone goes on with it; null if any may
   */
  public record Execution(
      int attempt,
      int failures,
      int maxAttempts,
      int crashes,
      int maxCrashes,
      @Nullable Integer progress,
      @Nullable String progressMessage,
      @Nullable String worker,
      @Nullable Integer version) {}

  /**
   * When what happened, or is to happen.
   *
   * @param startedAt of the last attempt
   */
  public record Times(
      Instant createdAt,
      Instant runAt,
      @Nullable Instant startedAt,
      @Nullable Instant heartbeatAt,
      @Nullable Instant leaseExpiresAt,
      @Nullable Instant finishedAt,
      @Nullable Instant deadline) {}

  /** Whether it was asked to stop, and why. */
  public record Cancel(@Nullable Instant requestedAt, @Nullable String reason) {}

  /**
   * What it belongs to, and what it is kept apart from.
   *
   * @param forkedFrom of which job it is a fork; null if it is none
   */
  public record Relations(
      String tenant,
      String workspace,
      JobId run,
      String runKey,
      @Nullable JobId parent,
      @Nullable ForkedFrom forkedFrom,
      @Nullable String uniqueKey,
      @Nullable String concurrencyKey) {}

  /**
   * What goes in and what comes out.
   *
   * @param omitted what it has and what is not here, because it is long and this is one of a page
   *     of jobs, or because it cannot be read: {@value #PAYLOAD}, {@value #RESULT} or {@value
   *     #STACK_TRACE}
   */
  public record Content(
      Json payload, @Nullable Json result, @Nullable Failure failure, List<String> omitted) {
    public Content {
      payload = payload == null ? NOTHING : payload;
      omitted = omitted == null ? List.of() : List.copyOf(omitted);
    }
  }

  public int attempt() {
    return execution.attempt();
  }

  public int failures() {
    return execution.failures();
  }

  public int maxAttempts() {
    return execution.maxAttempts();
  }

  public int crashes() {
    return execution.crashes();
  }

  public int maxCrashes() {
    return execution.maxCrashes();
  }

  public @Nullable Integer progress() {
    return execution.progress();
  }

  public @Nullable String progressMessage() {
    return execution.progressMessage();
  }

  public @Nullable String worker() {
    return execution.worker();
  }

  public @Nullable Integer version() {
    return execution.version();
  }

  public Instant createdAt() {
    return times.createdAt();
  }

  public Instant runAt() {
    return times.runAt();
  }

  public @Nullable Instant startedAt() {
    return times.startedAt();
  }

  public @Nullable Instant heartbeatAt() {
    return times.heartbeatAt();
  }

  public @Nullable Instant leaseExpiresAt() {
    return times.leaseExpiresAt();
  }

  public @Nullable Instant finishedAt() {
    return times.finishedAt();
  }

  public @Nullable Instant deadline() {
    return times.deadline();
  }

  public @Nullable Instant cancelRequestedAt() {
    return cancel.requestedAt();
  }

  public @Nullable String cancelReason() {
    return cancel.reason();
  }

  public String tenant() {
    return relations.tenant();
  }

  public String workspace() {
    return relations.workspace();
  }

  public JobId run() {
    return relations.run();
  }

  public String runKey() {
    return relations.runKey();
  }

  public @Nullable JobId parent() {
    return relations.parent();
  }

  public @Nullable ForkedFrom forkedFrom() {
    return relations.forkedFrom();
  }

  public @Nullable String uniqueKey() {
    return relations.uniqueKey();
  }

  public @Nullable String concurrencyKey() {
    return relations.concurrencyKey();
  }

  public Json payload() {
    return content.payload();
  }

  public @Nullable Json result() {
    return content.result();
  }

  public @Nullable Failure failure() {
    return content.failure();
  }

  public List<String> omitted() {
    return content.omitted();
  }
}
