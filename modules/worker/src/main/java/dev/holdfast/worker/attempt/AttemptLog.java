package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.worker.config.FailureLog;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.source.Metrics;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Makes attempts known: to the log, the metrics and the listeners of a worker. */
public final class AttemptLog {
  private static final Logger log = LoggerFactory.getLogger(AttemptLog.class);

  private final String worker;
  private final FailureLog failureLog;
  private final Metrics metrics;
  private final List<JobListener> listeners;

  AttemptLog(WorkerOptions options, Metrics metrics, List<JobListener> listeners) {
    this.worker = options.worker();
    this.failureLog = options.failureLog();
    this.metrics = metrics;
    this.listeners = List.copyOf(listeners);
  }

  void started(AttemptExecutor attempt) {
    log.debug("{} runs {} {}", worker, attempt.job().kind(), attempt.lease());
    tell(listener -> listener.started(attempt.job(), worker));
  }

  void skipped(AttemptExecutor attempt) {
    log.info("{} lost its lease before it started; skipped", attempt.lease());
    metrics.count(Metrics.DUPLICATE_SKIPS, 1);
  }

  void count(AttemptExecutor attempt, @Nullable Settlement settlement, Ack ack) {
    LeasedJob job = attempt.job();
    if (ack == Ack.ACCEPTED) {
      if (settlement instanceof Settlement.Fail fail) {
        countFailure(job, fail);
      }
    } else if (attempt.hasBegun() && (settlement != null || attempt.hasLostLease())) {
      // One that lost its lease before it began has no result; it is counted as skipped.
      metrics.count(Metrics.LATE_RESULTS, 1);
      log.info("late result of {} {} refused: it lost its lease", job.kind(), job.lease());
    }
  }

  private void countFailure(LeasedJob job, Settlement.Fail fail) {
    String code = fail.failure().code();
    boolean again = fail.failure().retryable() && job.failures() + 1 < job.maxAttempts();
    if (again) {
      metrics.count(Metrics.RETRIES, "code", code, 1);
    }
    Level level = failureLog.level();
    if (level != null) {
      // On the thread that wrote the settlement, which does not have the attempt's context.
      AttemptMdc.run(job, () -> logFailure(level, job, fail.failure(), again));
    }
  }

  /** As text, because the exception itself may hold secrets that were taken out of the failure. */
  private void logFailure(Level level, LeasedJob job, Failure failure, boolean again) {
    log.atLevel(level)
        .log(
            "{} {} failed on {}{}: {}",
            job.kind(),
            job.lease(),
            worker,
            again ? " and is tried again" : "",
            failure.detail());
  }

  void ended(AttemptExecutor attempt, @Nullable Settlement settlement, Ack ack) {
    if (settlement == null && ack == Ack.LEASE_LOST) {
      tell(listener -> listener.lost(attempt.job()));
    } else {
      Settlement ending =
          settlement == null ? new Settlement.Succeed(attempt.lease(), null) : settlement;
      tell(listener -> listener.settled(attempt.job(), ending, ack));
    }
  }

  void suspended(AttemptExecutor attempt) {
    log.debug("{} {} waits", attempt.job().kind(), attempt.lease());
    tell(listener -> listener.suspended(attempt.job()));
  }

  private void tell(Consumer<JobListener> what) {
    for (JobListener listener : listeners) {
      try {
        what.accept(listener);
      } catch (Throwable thrown) {
        log.warn("a listener failed", thrown);
      }
    }
  }
}
