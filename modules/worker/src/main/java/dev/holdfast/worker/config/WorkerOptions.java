package dev.holdfast.worker.config;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.Scratch;
import java.time.Duration;
import java.util.List;

/**
 * How a worker works.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param worker the name its leases carry; another one for every process, or a crash would hide
 *     behind the name of its successor
 * @param queues served in turn
 * @param concurrency how many jobs it runs at once
 * @param poll how often it looks for jobs that no notification announced
 * @param shutdownTimeout how long it waits for running jobs when it stops
 * @param scratch where handlers may put what they are working on
 * @param artifacts where what they publish goes
 * @param healing what becomes of steps that fail or hang
 * @param unknownKinds how long a job of a kind that no live worker knows is left alone before it
 *     fails
 * @param failureLog at which level failed attempts are logged
 */
public record WorkerOptions(
    String worker,
    List<String> queues,
    int concurrency,
    Timings timings,
    Duration poll,
    Duration shutdownTimeout,
    Backpressure.Settings backpressure,
    Scratch scratch,
    ArtifactStore artifacts,
    Healing healing,
    Duration unknownKinds,
    FailureLog failureLog) {
  public static final int DEFAULT_CONCURRENCY = 10;
  public static final Duration DEFAULT_POLL = Duration.ofSeconds(1);
  public static final Duration DEFAULT_SHUTDOWN_TIMEOUT = Duration.ofSeconds(30);
  public static final Duration DEFAULT_UNKNOWN_KINDS = Duration.ofMinutes(5);
  public static final FailureLog DEFAULT_FAILURE_LOG = FailureLog.WARN;

  public WorkerOptions {
    Limits.key("worker", worker);
    queues = List.copyOf(queues);
    checkQueues(queues);
    checkConcurrency(concurrency);
    checkPoll(poll);
    checkShutdownTimeout(shutdownTimeout);
    checkUnknownKinds(unknownKinds);
  }

  public static void checkUnknownKinds(Duration unknownKinds) {
    if (unknownKinds.isNegative() || unknownKinds.toDays() > 365) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "HOLDFAST_WORKER_UNKNOWN_KIND_TIMEOUT is "
              + unknownKinds
              + ": it must be zero or more, and a year at most");
    }
  }

  public static void checkQueues(List<String> queues) {
    queues.forEach(Limits::queue);
    if (queues.isEmpty()) {
      throw new RefusedException(Refusal.BAD_NAME, "a worker needs at least one queue");
    }
  }

  public static void checkConcurrency(int concurrency) {
    if (concurrency < 1 || concurrency > 100_000) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "MAX_CONCURRENCY is " + concurrency + ": it must be between 1 and 100000");
    }
  }

  public static void checkPoll(Duration poll) {
    if (poll.toDays() > 1 || poll.compareTo(Duration.ofMillis(1)) < 0) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "the polling interval is "
              + poll
              + ": it must be a millisecond or more, and a day at most");
    }
  }

  public static void checkShutdownTimeout(Duration shutdownTimeout) {
    if (shutdownTimeout.isNegative() || shutdownTimeout.toDays() > 365) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "SHUTDOWN_TIMEOUT_SEC is "
              + shutdownTimeout
              + ": it must be zero or more, and a year at most");
    }
  }
}
