package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports the state of one step with its timeline entries, and counts its outcomes. */
final class StepRecord {
  private static final Logger log = LoggerFactory.getLogger(StepRecord.class);

  /** The class and strategy of an attempt that neither failed nor healed a failure. */
  private static final String NONE = "none";

  private final Journal journal;
  private final Step<?> step;
  private final StepEvents events;

  /** Whether an attempt runs of which only this process knows. */
  private boolean unreported;

  StepRecord(Journal journal, Step<?> step) {
    this.journal = journal;
    this.step = step;
    this.events = new StepEvents(journal.codec(), step);
  }

  /** Nothing runs any more, because an operator holds the job. */
  void held(int attempt, CommandAction hold, @Nullable Path workspace) {
    journal.write().accept(events.held(journal.lease(), attempt, hold, workspace));
  }

  /**
   * The first attempt begins. It is reported when it has ended, if that is soon and nothing else is
   * reported before.
   */
  synchronized void beganQuietly() {
    unreported = true;
  }

  /** Reports the start of an attempt that is not known yet, without waiting. */
  synchronized void announce(int attempt) {
    // Under the lock, so that the report of its end comes after it.
    if (unreported) {
      unreported = false;
      journal
          .announce()
          .accept(
              new Report.Step(
                  journal.lease(),
                  step.id(),
                  step.index(),
                  StepState.RUNNING,
                  attempt,
                  false,
                  null,
                  null,
                  null,
                  null,
                  List.of(events.started(attempt))));
    }
  }

  private synchronized boolean endsUnreported() {
    boolean was = unreported;
    unreported = false;
    return was;
  }

  /**
   * An attempt begins.
   *
   * @param handledCommand the operator's request for which it begins
   * @param reset whether the operator wants the steps from this one on dropped
   * @param resumed after what the job continues at this step; null if it does not
   */
  void began(
      int attempt, @Nullable Recovery handledCommand, boolean reset, @Nullable Strategy resumed) {
    List<Report.Entry> entries = new ArrayList<>();
    if (resumed != null) {
      // Before the first attempt that begins there.
      entries.add(events.resumed(attempt - 1, resumed));
    }
    if (handledCommand != null) {
      entries.add(events.acknowledged(handledCommand));
    }
    entries.add(events.started(attempt));
    write(
        StepState.RUNNING,
        attempt,
        false,
        null,
        reset ? step.index() : null,
        handledCommand == null ? null : handledCommand.updatedAt(),
        entries);
  }

  /**
   * @param healed the failure that this attempt has healed
   */
  void done(
      int attempt, Step.Saved saved, Instant from, Duration took, Step.@Nullable Failed healed) {
    if (endsUnreported()) {
      journal
          .write()
          .accept(
              Report.Step.done(
                  journal.lease(), step.id(), step.index(), attempt, saved.checkpoint(), took));
    } else {
      write(
          StepState.DONE,
          attempt,
          false,
          saved,
          null,
          null,
          List.of(events.finished(attempt, saved.left(), from, took)));
    }
    if (healed == null) {
      timed(took, NONE, NONE, "done");
    } else {
      FailureClass kind = healed.attempt().failureClass();
      timed(took, kind.text(), healed.next().text(), "done");
      count(StepLoop.ATTEMPTS, kind, healed.next(), "recovered");
      count(StepLoop.RECOVERED, kind, healed.next(), null);
    }
  }

  /** For an operator: it does not count, and what the operator asked is done next. */
  void stopped(int attempt, Duration took) {
    timed(took, NONE, NONE, "stopped");
    ended(StepState.FAILED, attempt, false, took, List.of(events.stopped(attempt)));
  }

  /** The whole job is to stop, and may belong to another attempt by now. */
  void interrupted(int attempt, Duration took) {
    timed(took, NONE, NONE, "stopped");
    boolean interrupted = Thread.interrupted();
    try {
      ended(StepState.INTERRUPTED, attempt, false, took, List.of(events.interrupted(attempt)));
    } catch (RuntimeException notWritten) {
      log.debug("step {}: its stop could not be reported", step.id(), notWritten);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * @param metric of the timer that ended the attempt
   */
  void timedOut(String metric, StepDecision decision) {
    count(metric, decision.failureClass(), decision.strategy(), null);
  }

  /**
   * @param message redacted, as is the summary
   * @param before the failure that this attempt was to heal
   */
  void failed(
      FailedAttempt failure,
      StepDecision decision,
      String message,
      String summary,
      Duration took,
      Step.@Nullable Failed before) {
    log.info(
        "step {} attempt {}: {} ({}); {}",
        step.id(),
        failure.attempt(),
        Text.excerpt(message, Summary.MOST_MESSAGE),
        decision.failureClass().text(),
        decision.strategy().text());
    timed(took, decision.failureClass().text(), decision.strategy().text(), "failed");
    count(decision, before);
    ended(
        StepState.FAILED,
        failure.attempt(),
        decision.strategy() == Strategy.HARD_RESET,
        took,
        List.of(
            events.failed(failure, decision, summary), events.decided(failure, decision, summary)));
  }

  private void count(StepDecision decision, Step.@Nullable Failed before) {
    FailureClass kind = decision.failureClass();
    Strategy strategy = decision.strategy();
    if (before != null) {
      count(StepLoop.ATTEMPTS, before.attempt().failureClass(), before.next(), "failed");
    }
    if (kind == FailureClass.STUCK_NO_PROGRESS && strategy != Strategy.SOFT_RESET) {
      count(StepLoop.NO_PROGRESS, kind, strategy, null);
    }
    if (strategy == Strategy.QUEUE_RETRY || strategy == Strategy.FAIL) {
      count(StepLoop.ATTEMPTS, kind, strategy, "exhausted");
      count(StepLoop.EXHAUSTED, kind, strategy, null);
    }
  }

  private void count(
      String metric, FailureClass kind, Strategy strategy, @Nullable String outcome) {
    journal.metrics().count(metric, tags(kind.text(), strategy.text(), outcome));
  }

  /** All series of a timer have the same tags, or receivers refuse them. */
  private void timed(Duration took, String kind, String strategy, String outcome) {
    journal.metrics().time(StepLoop.DURATION, tags(kind, strategy, outcome), took);
  }

  private static Map<String, String> tags(String kind, String strategy, @Nullable String outcome) {
    Map<String, String> tags = new LinkedHashMap<>();
    tags.put("class", kind);
    tags.put("strategy", strategy);
    if (outcome != null) {
      tags.put("outcome", outcome);
    }
    return tags;
  }

  /** Without success; with its start, if that is not known yet. */
  private void ended(
      StepState state, int attempt, boolean reset, Duration took, List<Report.Entry> entries) {
    boolean whole = endsUnreported();
    List<Report.Entry> all = new ArrayList<>(entries);
    if (whole) {
      all.addFirst(events.started(attempt));
    }
    journal
        .write()
        .accept(
            new Report.Step(
                journal.lease(),
                step.id(),
                step.index(),
                state,
                attempt,
                reset,
                null,
                null,
                null,
                null,
                all,
                whole ? took : null));
  }

  private void write(
      StepState state,
      int attempt,
      boolean reset,
      Step.@Nullable Saved saved,
      @Nullable Integer discardFromIndex,
      @Nullable Instant handledCommand,
      List<Report.Entry> entries) {
    journal
        .write()
        .accept(
            new Report.Step(
                journal.lease(),
                step.id(),
                step.index(),
                state,
                attempt,
                reset,
                saved == null ? null : saved.checkpoint(),
                saved == null ? null : saved.patch(),
                discardFromIndex,
                handledCommand,
                entries));
  }
}
