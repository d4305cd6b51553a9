package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A job as the model has it. Times are microseconds since the run began. */
final class ModelJob {
  /** The order of a queue. */
  static final Comparator<ModelJob> ORDER =
      Comparator.comparingInt((ModelJob job) -> job.job.priority())
          .thenComparingLong(job -> job.runAt)
          .thenComparing(job -> job.id);

  /** How an attempt ended that did not succeed. */
  record Ended(String outcome, @Nullable Failure failure, String worker, long endedAt) {}

  /** A step as the model has it. */
  record StepRow(
      int index,
      String state,
      int attempt,
      int jobAttempt,
      int resets,
      @Nullable Json checkpoint,
      @Nullable WaitEnd ended) {
    /** Of a wait that is over, or of jobs that were started. */
    static StepRow over(
        @Nullable StepRow before, int index, int jobAttempt, @Nullable Json brought, WaitEnd how) {
      return before == null
          ? new StepRow(index, "DONE", 1, jobAttempt, 0, brought, how)
          : new StepRow(
              before.index(),
              "DONE",
              before.attempt() + 1,
              jobAttempt,
              before.resets(),
              brought,
              how);
    }

    StepRow toBeAskedAgain() {
      return new StepRow(index, "FAILED", attempt, jobAttempt, resets, checkpoint, null);
    }
  }

  /**
   * What it waits for.
   *
   * @param wakeAt when that is over, if it is by itself
   */
  record OpenWait(int index, Wait asked, long since, @Nullable Long wakeAt) {}

  /** A signal; it is taken by the wait of this id. */
  static final class Mail {
    final int number;
    final SignalToJob signal;
    @Nullable String takenBy;

    Mail(int number, SignalToJob signal) {
      this.number = number;
      this.signal = signal;
    }
  }

  final Job job;
  final JobId id;
  final String queue;
  final Json payload;
  final long createdAt;
  final int maxAttempts;
  final @Nullable Long timeout;

  JobState state;
  long runAt;
  @Nullable Long deadline;
  int attempt;
  @Nullable String worker;
  long startedAt;
  @Nullable Long heartbeatAt;
  @Nullable Long leaseExpiresAt;
  int failures;
  int crashes;
  boolean isolated;
  @Nullable Long cancelRequestedAt;
  @Nullable Long cancelDeadline;

  /** How long a handler may take to stop, as the worker that claimed it last has said. */
  long cancelGrace;

  @Nullable String cancelReason;
  @Nullable String failureCode;
  @Nullable Json result;
  @Nullable Integer progress;
  @Nullable Long finishedAt;
  final List<String> events = new ArrayList<>();
  final Map<Integer, Ended> attempts = new TreeMap<>();
  final Map<String, StepRow> steps = new LinkedHashMap<>();
  final Map<String, String> artifacts = new TreeMap<>();
  final List<Mail> mailbox = new ArrayList<>();
  @Nullable OpenWait wait;

  /** When waits were over, by their ids. */
  final Map<String, Long> overAt = new HashMap<>();

  /** It holds its unique key no longer, and never will again. */
  boolean gaveUpKey;

  @Nullable JobId parent;
  @Nullable String startedAs;

  ModelJob(Job job, Json payload, long now) {
    this.job = job;
    this.id = job.id();
    this.queue = job.queue();
    this.payload = payload;
    this.createdAt = now;
    Integer attempts = job.maxAttempts();
    this.maxAttempts = attempts == null ? Job.DEFAULT_MAX_ATTEMPTS : attempts;
    Duration limit = job.timeout();
    this.timeout = limit == null ? null : micros(limit);
    Instant end = job.deadline();
    this.deadline = end == null ? null : ChronoUnit.MICROS.between(Instant.EPOCH, end);
    this.runAt = now + micros(job.delay());
    this.state = job.dependsOn().isEmpty() ? JobState.PENDING : JobState.WAITING;
    event("created");
  }

  static Instant moment(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  static long micros(Duration duration) {
    return duration.toNanos() / 1_000;
  }

  void event(String type) {
    events.add(type);
  }

  boolean isHeldBy(Lease lease) {
    return state == JobState.RUNNING && attempt == lease.attempt();
  }

  Lease lease() {
    return new Lease(id, attempt);
  }

  boolean isDue(long now) {
    return state == JobState.PENDING && runAt <= now;
  }

  String workerName() {
    return worker == null ? "" : worker;
  }

  void take(Verb.Claim asked, long now) {
    state = JobState.RUNNING;
    attempt++;
    worker = asked.worker();
    startedAt = now;
    heartbeatAt = now;
    leaseExpiresAt = now + micros(asked.lease());
    cancelGrace = micros(asked.cancelGrace());
    progress = null;
    event("processing");
  }

  /** The attempt is over, and did not succeed. */
  void end(JobState next, String event, Ended how, long now) {
    attempts.put(attempt, how);
    state = next;
    worker = null;
    heartbeatAt = null;
    leaseExpiresAt = null;
    finishedAt = next.isTerminal() ? now : null;
    event(
        switch (next) {
          case FAILED -> "failed";
          case CANCELLED -> "cancelled";
          case RETRYING -> "retry:scheduled";
          case PENDING, WAITING, RUNNING, SUCCEEDED -> event;
        });
  }

  LeasedJob leased(long now) {
    return new LeasedJob(
        lease(),
        job.kind(),
        queue,
        payload,
        job.tenant(),
        job.workspace(),
        job.run(),
        job.runKey(),
        moment(createdAt),
        failures,
        maxAttempts,
        Duration.ofNanos((now - Math.max(runAt, createdAt)) * 1_000),
        timeout == null ? null : Duration.ofNanos(timeout * 1_000),
        deadline == null ? null : Duration.ofNanos((deadline - now) * 1_000),
        JobAttributes.NONE);
  }
}
