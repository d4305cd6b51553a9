package dev.holdfast.simulation.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How attempts end. Each kind of ending is one statement, in this order. */
final class ModelSettle {
  private static final List<Class<? extends Settlement>> ORDER =
      List.of(
          Settlement.Succeed.class,
          Settlement.Continue.class,
          Settlement.Fail.class,
          Settlement.Cancel.class,
          Settlement.Snooze.class,
          Settlement.Release.class);

  private final ModelQueue queue;

  ModelSettle(ModelQueue queue) {
    this.queue = queue;
  }

  /** Of several endings of one attempt in a batch, the first counts. */
  List<Ack> all(List<Settlement> given) {
    Map<Lease, Settlement> firsts = new LinkedHashMap<>();
    given.forEach(each -> firsts.putIfAbsent(each.lease(), each));
    Map<Lease, Ack> acks = new HashMap<>();
    for (Class<? extends Settlement> kind : ORDER) {
      for (Settlement each : firsts.values()) {
        if (kind.isInstance(each)) {
          acks.put(each.lease(), one(each));
        }
      }
    }
    return given.stream()
        .map(
            each ->
                each.equals(firsts.get(each.lease()))
                    ? Objects.requireNonNull(acks.get(each.lease()))
                    : Ack.LEASE_LOST)
        .toList();
  }

  boolean succeeded(Lease lease) {
    ModelJob job = queue.find(lease.job());
    return job != null && job.state == JobState.SUCCEEDED && job.attempt == lease.attempt();
  }

  private Ack one(Settlement settlement) {
    ModelJob job = queue.find(settlement.lease().job());
    if (job == null) {
      return Ack.LEASE_LOST;
    }
    if (!job.isHeldBy(settlement.lease())) {
      return wasSettledLikeThis(job, settlement) ? Ack.ACCEPTED : Ack.LEASE_LOST;
    }
    switch (settlement) {
      case Settlement.Succeed succeed -> succeed(job, succeed);
      case Settlement.Continue next -> goOn(job, next);
      case Settlement.Fail fail -> fail(job, fail.failure(), fail.retryAfter());
      case Settlement.Cancel cancel -> release(job, "CANCELLED", "cancelled", null, true);
      case Settlement.Snooze snooze -> release(job, "SNOOZED", "snoozed", snooze.delay(), false);
      case Settlement.Release released ->
          release(
              job,
              "RELEASED",
              released.abortedByShutdown() ? "aborted:shutdown" : "released",
              null,
              false);
    }
    queue.changed(job);
    return Ack.ACCEPTED;
  }

  /** A settle whose answer was lost is sent again, and finds its own ending. */
  private boolean wasSettledLikeThis(ModelJob job, Settlement settlement) {
    int attempt = settlement.lease().attempt();
    ModelJob.Ended ended = job.attempts.get(attempt);
    return switch (settlement) {
      case Settlement.Succeed succeed ->
          job.state == JobState.SUCCEEDED
              && job.attempt == attempt
              && Objects.equals(job.result, succeed.result());
      case Settlement.Continue next -> {
        ModelJob successor = queue.find(next.successor());
        yield job.state == JobState.SUCCEEDED
            && job.attempt == attempt
            && successor != null
            && successor.payload.equals(next.payload());
      }
      case Settlement.Fail fail ->
          ended != null
              && ended.outcome().equals("FAILED")
              && fail.failure().equals(ended.failure());
      case Settlement.Cancel cancel -> isOwn(ended, "CANCELLED");
      case Settlement.Snooze snooze -> isOwn(ended, "SNOOZED");
      case Settlement.Release release -> isOwn(ended, "RELEASED");
    };
  }

  private static boolean isOwn(ModelJob.@Nullable Ended ended, String outcome) {
    return ended != null && ended.outcome().equals(outcome) && ended.failure() == null;
  }

  private void succeed(ModelJob job, Settlement.Succeed succeed) {
    job.state = JobState.SUCCEEDED;
    job.result = succeed.result();
    job.heartbeatAt = null;
    job.leaseExpiresAt = null;
    job.finishedAt = queue.now();
    job.event("done");
  }

  /** What others wait for cannot go on as another one; nothing follows what is cancelled. */
  private void goOn(ModelJob job, Settlement.Continue next) {
    if (job.cancelRequestedAt != null) {
      release(job, "CANCELLED", "cancelled", null, true);
      return;
    }
    if (job.startedAs != null) {
      throw new RefusedException(Refusal.BAD_DEPENDENCY, "others wait for it");
    }
    job.event("continued");
    succeed(job, new Settlement.Succeed(next.lease(), null));
    queue.addSuccessor(job, next.successor(), next.payload());
  }

  /** Also for attempts that the sweep ends because they are out of time. */
  void fail(ModelJob job, Failure failure, @Nullable Duration retryAfter) {
    boolean retryable = failure.retryable();
    boolean cancelled = job.cancelRequestedAt != null;
    boolean spent = job.failures + 1 >= job.maxAttempts;
    JobState next =
        !retryable
            ? JobState.FAILED
            : cancelled ? JobState.CANCELLED : spent ? JobState.FAILED : JobState.RETRYING;
    long now = queue.now();
    job.failureCode = retryable && spent && !cancelled ? "RETRIES_EXHAUSTED" : failure.code();
    job.failures += retryable ? 1 : 0;
    if (next == JobState.RETRYING) {
      job.runAt = now + (retryAfter == null ? 0 : ModelJob.micros(retryAfter));
    }
    job.end(next, "", new ModelJob.Ended("FAILED", failure, job.workerName(), now), now);
  }

  private void release(
      ModelJob job, String outcome, String event, @Nullable Duration delay, boolean cancel) {
    long now = queue.now();
    JobState next = cancel || job.cancelRequestedAt != null ? JobState.CANCELLED : JobState.PENDING;
    if (delay != null) {
      job.runAt = now + ModelJob.micros(delay);
    }
    job.end(next, event, new ModelJob.Ended(outcome, null, job.workerName(), now), now);
  }
}
