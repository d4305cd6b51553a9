package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * The log of one attempt. About once a second the lines that came in are reported, in pieces. A
 * line costs no more than being redacted and kept: when lines come faster than they can be written,
 * the oldest unwritten pieces are dropped and the caller does not wait.
 */
final class JobLog {
  /** Between two reports. */
  static final Duration INTERVAL = Duration.ofSeconds(1);

  /** From the first line to its report, so that lines that come together are written together. */
  private static final Duration GATHER = Duration.ofMillis(100);

  private final Lease lease;
  private final UnaryOperator<String> redact;
  private final Function<Report, CompletableFuture<Ack>> outbox;
  private final Runnable lost;
  private final Function<Duration, Executor> after;
  private final LongSupplier nanos;
  private final Deque<Piece> unwritten = new ArrayDeque<>();
  private Piece last = new Piece(1);
  private long writtenAt;
  private boolean waiting;
  private boolean ended;

  private static final class Piece {
    private final int number;
    private final StringBuilder text = new StringBuilder();

    Piece(int number) {
      this.number = number;
    }
  }

  /**
   * @param lost called when an answer says that the lease is lost
   */
  JobLog(
      Lease lease,
      UnaryOperator<String> redact,
      Function<Report, CompletableFuture<Ack>> outbox,
      Runnable lost) {
    this(lease, redact, outbox, lost, JobLog::later, System::nanoTime);
  }

  /**
   * @param after runs something once so much time has passed, never in the calling thread
   */
  JobLog(
      Lease lease,
      UnaryOperator<String> redact,
      Function<Report, CompletableFuture<Ack>> outbox,
      Runnable lost,
      Function<Duration, Executor> after,
      LongSupplier nanos) {
    this.lease = lease;
    this.redact = redact;
    this.outbox = outbox;
    this.lost = lost;
    this.after = after;
    this.nanos = nanos;
    this.writtenAt = nanos.getAsLong() - INTERVAL.toNanos();
  }

  private static Executor later(Duration delay) {
    Executor virtual = task -> Thread.ofVirtual().name("holdfast-log").start(task);
    return CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS, virtual);
  }

  synchronized void line(String text) {
    if (ended) {
      return;
    }
    // More than is kept: a secret that is cut at the end of the line would not be recognised.
    String redacted =
        redact.apply(text.substring(0, Math.min(text.length(), 4 * Limits.LOG_LINE_CHARS)));
    (redacted + "\n")
        .lines()
        .map(line -> Text.excerpt(line, Limits.LOG_LINE_CHARS) + "\n")
        .forEach(this::keep);
    if (!unwritten.isEmpty() && !waiting) {
      scheduleReport();
    }
  }

  private void keep(String line) {
    if (last.text.length() + line.length() > Limits.LOG_PIECE_CHARS) {
      last = new Piece(last.number + 1);
    }
    last.text.append(line);
    if (unwritten.peekLast() != last) {
      unwritten.addLast(last);
    }
    if (unwritten.size() > Limits.LOG_PIECES) {
      unwritten.removeFirst();
    }
  }

  private void scheduleReport() {
    waiting = true;
    Duration rest = INTERVAL.minusNanos(nanos.getAsLong() - writtenAt);
    after.apply(rest.compareTo(GATHER) > 0 ? rest : GATHER).execute(this::report);
  }

  private void report() {
    List<CompletableFuture<Ack>> answers;
    synchronized (this) {
      answers = ended ? List.of() : reports();
    }
    // The next report waits for the answers: lines that come meanwhile stay in this bounded buffer.
    CompletableFuture<?> unused =
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
            .whenComplete((all, error) -> answered(answers));
  }

  /** The caller holds the lock. */
  private List<CompletableFuture<Ack>> reports() {
    List<CompletableFuture<Ack>> answers =
        unwritten.stream()
            .map(piece -> new Report.Log(lease, piece.number, piece.text.toString()))
            .map(outbox)
            .toList();
    unwritten.clear();
    writtenAt = nanos.getAsLong();
    return answers;
  }

  private void answered(List<CompletableFuture<Ack>> answers) {
    if (answers.stream().anyMatch(JobLog::isLost)) {
      lost.run();
    }
    synchronized (this) {
      waiting = false;
      if (!unwritten.isEmpty() && !ended) {
        scheduleReport();
      }
    }
  }

  private static boolean isLost(CompletableFuture<Ack> answer) {
    return answer.isDone() && !answer.isCompletedExceptionally() && answer.join() == Ack.LEASE_LOST;
  }

  /** Reports the lines that are not written yet; the answers are those to all that is reported. */
  synchronized List<CompletableFuture<Ack>> flush() {
    return ended ? List.of() : reports();
  }

  /**
   * Reports the last lines, before the attempt is settled.
   *
   * @param write whether they may still be written
   */
  synchronized void end(boolean write) {
    if (!ended) {
      if (write) {
        List<CompletableFuture<Ack>> unused = reports();
      }
      ended = true;
    }
  }
}
