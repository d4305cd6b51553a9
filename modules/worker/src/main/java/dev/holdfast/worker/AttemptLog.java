package dev.holdfast.worker;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.source.Metrics;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes attempts known: to the log, the metrics and the listeners of a worker. */
final class AttemptLog {
  private static final Logger log = LoggerFactory.getLogger(AttemptLog.class);

  private final String worker;
  private final Metrics metrics;
  private final List<JobListener> listeners;

  AttemptLog(String worker, Metrics metrics, List<JobListener> listeners) {
    this.worker = worker;
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
    // Without the message, which is in the job: a log is read by more people than may see that.
    log.warn(
        "{} {} failed on {}: {}{}",
        job.kind(),
        job.lease(),
        worker,
        code,
        again ? "; it is tried again" : "");
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
