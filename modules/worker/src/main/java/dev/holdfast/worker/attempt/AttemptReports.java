package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.ProgressThrottle;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.LeaseLostException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one attempt reports: progress and log lines, which do not wait, and events and steps, which
 * return once they are durable. Reports are written in the order in which they were made, and
 * before the attempt is settled.
 */
final class AttemptReports {
  private static final Logger log = LoggerFactory.getLogger(AttemptReports.class);
  private static final Duration LAST_PROGRESS = Duration.ofSeconds(1);

  private final Lease lease;
  private final Outbox outbox;
  private final UnaryOperator<String> redact;
  private final StopSignal stop;
  private final Runnable lost;
  private final ProgressThrottle throttle;
  private final Object lock = new Object();
  private CompletableFuture<Ack> written = CompletableFuture.completedFuture(Ack.ACCEPTED);
  private Report.@Nullable Progress pending;
  private @Nullable JobLog jobLog;
  private volatile boolean settling;
  private volatile boolean ended;

  /**
   * @param redact hides secrets in lines of the log, messages of progress and questions
   * @param lost called when an answer says that the lease is lost
   */
  AttemptReports(
      Lease lease,
      Outbox outbox,
      UnaryOperator<String> redact,
      StopSignal stop,
      LongSupplier nanos,
      Runnable lost) {
    this.lease = lease;
    this.outbox = outbox;
    this.redact = redact;
    this.stop = stop;
    this.throttle = new ProgressThrottle(nanos);
    this.lost = lost;
  }

  // ---- without waiting

  void progress(int percent, String message) {
    Report.Progress report =
        new Report.Progress(lease, percent, message.isEmpty() ? null : message);
    synchronized (lock) {
      if (!stop.isSet() && !settling && !ended && throttle.lets(percent)) {
        // One unanswered report at a time; the latest of those that came meanwhile is the next.
        pending = report;
        if (written.isDone()) {
          sendPending();
        }
      }
    }
  }

  /** The caller holds {@link #lock}. */
  private void sendPending() {
    Report.Progress report = pending;
    if (report != null) {
      pending = null;
      written = outbox.report(redacted(report));
      CompletableFuture<?> unused = written.whenComplete((ack, error) -> answered(ack));
    }
  }

  /** Late: most reports of a busy handler are replaced by the next before they are sent. */
  private Report.Progress redacted(Report.Progress report) {
    String message = report.message();
    return message == null
        ? report
        : new Report.Progress(report.lease(), report.percent(), redact.apply(message));
  }

  Wait redacted(Wait wait) {
    return wait.scrubbed(redact);
  }

  private void answered(@Nullable Ack ack) {
    if (ack == Ack.LEASE_LOST) {
      lost.run();
    }
    synchronized (lock) {
      if (written.isDone()) {
        sendPending();
      }
    }
  }

  void log(String line) {
    JobLog lines;
    synchronized (lock) {
      if (ended) {
        return;
      }
      if (jobLog == null) {
        // Most jobs log nothing and need no buffer.
        jobLog = new JobLog(lease, redact, outbox::report, lost);
      }
      lines = jobLog;
    }
    lines.line(line);
  }

  /** What is reported after it is written after it. */
  void announce(Report report) {
    synchronized (lock) {
      if (!settling && !ended) {
        sendPending();
        written = outbox.report(report);
        CompletableFuture<?> unused = written.whenComplete((ack, error) -> answered(ack));
      }
    }
  }

  // ---- durable

  /** Returns once it is durable; throws when this attempt no longer holds the job. */
  void write(Report report) {
    CompletableFuture<Ack> answer;
    synchronized (lock) {
      checkHolds("events");
      sendPending();
      answer = outbox.report(report);
    }
    if (answerTo(answer) == Ack.LEASE_LOST) {
      lost.run();
      throw new LeaseLostException(lease);
    }
  }

  /** Before files are published, so that the timeline has the progress before the artifacts. */
  void awaitWritten() {
    CompletableFuture<Ack> last;
    synchronized (lock) {
      sendPending();
      last = written;
    }
    if (answerTo(last) == Ack.LEASE_LOST) {
      throw new LeaseLostException(lease);
    }
  }

  /** Before the attempt may end by a wait: nothing can be reported after that. */
  void awaitAllWritten() {
    awaitWritten();
    JobLog lines;
    synchronized (lock) {
      lines = jobLog;
    }
    if (lines != null) {
      lines.flush().forEach(AttemptReports::answerTo);
    }
  }

  private static Ack answerTo(CompletableFuture<Ack> written) {
    try {
      return written.get();
    } catch (InterruptedException interrupted) {
      // The event may still be written; the handler was told to stop and should.
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while an event was being written");
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RefusedException refused) {
        throw new RefusedException(Refusal.EVENT_NOT_JSON, String.valueOf(refused.getMessage()));
      }
      throw new CompletionException(failed.getCause());
    }
  }

  void checkHolds(String what) {
    if (ended || stop.isLeaseLost()) {
      throw new LeaseLostException(lease);
    }
    if (settling) {
      // It would wait for the row that this attempt's own transaction holds locked.
      throw new IllegalStateException(
          lease + " is settled in its transaction: " + what + " come before that");
    }
  }

  // ---- the end

  void settlingInTransaction() {
    CompletableFuture<Ack> last;
    synchronized (lock) {
      settling = true;
      sendPending();
      last = written;
    }
    try {
      // Sent after the transaction has locked the row, it would hold up the reports of all
      // attempts.
      last.get(LAST_PROGRESS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException tooLong) {
      last.cancel(false);
    } catch (ExecutionException notWritten) {
      log.debug("{}: the last progress was not written", lease, notWritten);
    } catch (InterruptedException interrupted) {
      last.cancel(false);
      Thread.currentThread().interrupt();
    }
  }

  boolean isSettling() {
    return settling;
  }

  /** Nothing is reported any more, and what was is written before the attempt is settled. */
  void end() {
    JobLog lines;
    synchronized (lock) {
      if (!settling) {
        sendPending();
      }
      ended = true;
      lines = jobLog;
    }
    if (lines != null) {
      lines.end(!settling);
    }
  }
}
