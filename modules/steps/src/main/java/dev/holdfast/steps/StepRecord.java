package dev.holdfast.steps;

import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.job.EventType;
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

/** What is told of one step: where it stands, what happened to it, and what is counted. */
final class StepRecord {
  private static final Logger log = LoggerFactory.getLogger(StepRecord.class);

  private final Journal journal;
  private final Step<?> step;

  StepRecord(Journal journal, Step<?> step) {
    this.journal = journal;
    this.step = step;
  }

  /** Nothing runs any more, because an operator wants it so. */
  void heldUp(int attempt, CommandAction hold, @Nullable Path workspace) {
    Map<String, Object> data = about(attempt);
    data.put("action", hold.text());
    if (workspace != null) {
      data.put("workspace", workspace.toString());
    }
    journal.tell(new Journal.Event(EventType.RECOVERY_ACK, data));
  }

  /**
   * An attempt begins.
   *
   * @param honoured what an operator has asked, if it begins for that
   */
  void began(int attempt, @Nullable Recovery honoured, boolean reset) {
    List<Journal.Event> events = new ArrayList<>();
    if (reset) {
      // Before the first attempt that begins there.
      Map<String, Object> about = about(attempt - 1);
      about.put("strategy", Strategy.HARD_RESET.text());
      events.add(new Journal.Event(EventType.RESUME_FROM_STEP, about));
    }
    if (honoured != null) {
      events.add(acknowledged(honoured));
    }
    events.add(new Journal.Event(EventType.STEP_STARTED, about(attempt)));
    write(
        StepState.RUNNING,
        attempt,
        false,
        null,
        reset ? step.index() : null,
        honoured == null ? null : honoured.updatedAt(),
        events);
  }

  private static Journal.Event acknowledged(Recovery recovery) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("action", recovery.action().text());
    data.put("stepId", recovery.stepId());
    data.put("requestedBy", recovery.requestedBy());
    data.put("reason", recovery.reason());
    data.put("updatedAt", recovery.updatedAt().toString());
    return new Journal.Event(EventType.RECOVERY_ACK, data);
  }

  /**
   * @param healed of which failure, if of any
   */
  void done(
      int attempt,
      Step.Checkpoint checkpoint,
      Instant from,
      Duration took,
      Step.@Nullable Failed healed) {
    Map<String, Object> about = about(attempt);
    put(about, "diffHash", checkpoint.left().diffHash());
    about.put("startedAt", from.toString());
    about.put("seconds", took.toMillis() / 1000.0);
    write(
        StepState.DONE,
        attempt,
        false,
        checkpoint,
        null,
        null,
        List.of(new Journal.Event(EventType.STEP_FINISHED, about)));
    timed(took, "done");
    if (healed != null) {
      count(StepLoop.ATTEMPTS, healed.attempt().failureClass(), healed.next(), "recovered");
      count(StepLoop.RECOVERED, healed.attempt().failureClass(), healed.next(), null);
    }
  }

  /** For an operator: it does not count, and what he wants is done next. */
  void stopped(int attempt, Duration took) {
    timed(took, "stopped");
    Map<String, Object> about = about(attempt);
    about.put("summary", "stopped for an operator");
    failed(StepState.FAILED, attempt, false, new Journal.Event(EventType.STEP_FAILED, about));
  }

  /** The whole job is to stop; whether this can still be written, it may no longer be ours to. */
  void cutShort(int attempt, Duration took) {
    timed(took, "stopped");
    Map<String, Object> about =
        about(new FailedAttempt(attempt, FailureClass.TRANSIENT_RUNTIME, "stopped", null));
    about.put("summary", "stopped with its job");
    boolean interrupted = Thread.interrupted();
    try {
      failed(
          StepState.INTERRUPTED, attempt, false, new Journal.Event(EventType.STEP_FAILED, about));
    } catch (RuntimeException notOurs) {
      log.debug("step {}: that it was stopped could not be written", step.id(), notOurs);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  void timedOut(boolean wall) {
    journal.count(wall ? StepLoop.WALL_TIMEOUTS : StepLoop.IDLE_TIMEOUTS, Map.of());
  }

  /**
   * @param said scrubbed, as is the summary
   * @param before the failure that this attempt was to heal
   */
  void failed(
      FailedAttempt failure,
      Decision decision,
      String said,
      String summary,
      Duration took,
      Step.@Nullable Failed before) {
    log.info(
        "step {} attempt {}: {} ({}); {}",
        step.id(),
        failure.attempt(),
        Text.excerpt(said, Summary.MOST_MESSAGE),
        decision.failureClass().text(),
        decision.strategy().text());
    timed(took, "failed");
    if (before != null) {
      count(StepLoop.ATTEMPTS, before.attempt().failureClass(), before.next(), "failed");
    }
    if (decision.failureClass() == FailureClass.STUCK_NO_PROGRESS
        && decision.strategy() != Strategy.SOFT_RESET) {
      journal.count(StepLoop.NO_PROGRESS, Map.of());
    }
    Map<String, Object> about = about(failure);
    put(about, "diffHash", failure.diffHash());
    about.put("strategy", decision.strategy().text());
    about.put("failureClass", decision.failureClass().text());
    about.put("summary", summary);
    Map<String, Object> why = new LinkedHashMap<>(about);
    why.put("because", decision.because());
    String next =
        switch (decision.strategy()) {
          case SOFT_RESET -> EventType.HEAL_TRIGGERED;
          case HARD_RESET -> EventType.HEAL_ESCALATED;
          case QUEUE_RETRY, FAIL -> EventType.HEAL_EXHAUSTED;
        };
    if (next.equals(EventType.HEAL_EXHAUSTED)) {
      count(StepLoop.ATTEMPTS, decision.failureClass(), decision.strategy(), "exhausted");
      count(StepLoop.EXHAUSTED, decision.failureClass(), decision.strategy(), null);
    }
    failed(
        StepState.FAILED,
        failure.attempt(),
        decision.strategy() == Strategy.HARD_RESET,
        new Journal.Event(EventType.STEP_FAILED, about),
        new Journal.Event(next, why));
  }

  private void failed(StepState state, int attempt, boolean reset, Journal.Event... events) {
    write(state, attempt, reset, null, null, null, List.of(events));
  }

  private void write(
      StepState state,
      int attempt,
      boolean reset,
      Step.@Nullable Checkpoint checkpoint,
      @Nullable Integer forgetFrom,
      @Nullable Instant honoured,
      List<Journal.Event> events) {
    journal.write(
        new Journal.Line(
            step.id(),
            step.index(),
            state,
            attempt,
            reset,
            checkpoint == null ? null : checkpoint.json(),
            checkpoint == null ? null : checkpoint.patch(),
            forgetFrom,
            honoured,
            events));
  }

  private void timed(Duration took, String outcome) {
    journal.time(StepLoop.DURATION, Map.of("outcome", outcome), took);
  }

  private void count(
      String metric, FailureClass kind, Strategy strategy, @Nullable String outcome) {
    Map<String, String> tags = new LinkedHashMap<>();
    tags.put("class", kind.text());
    tags.put("strategy", strategy.text());
    if (outcome != null) {
      tags.put("outcome", outcome);
    }
    journal.count(metric, tags);
  }

  private Map<String, Object> about(int attempt) {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("stepId", step.id());
    about.put("stepIndex", step.index());
    about.put("attempt", attempt);
    return about;
  }

  private Map<String, Object> about(FailedAttempt failure) {
    Map<String, Object> about = about(failure.attempt());
    about.put("failureClass", failure.failureClass().text());
    about.put("failureSignature", failure.signature());
    return about;
  }

  private static void put(Map<String, Object> about, String name, @Nullable String value) {
    if (value != null) {
      about.put(name, value);
    }
  }
}
