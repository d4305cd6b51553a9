package dev.holdfast.steps;

import dev.holdfast.model.ControlAction;
import dev.holdfast.model.EventType;
import dev.holdfast.model.Failure;
import dev.holdfast.model.LiveControl;
import dev.holdfast.model.LiveControl.Recovery;
import dev.holdfast.model.StepState;
import dev.holdfast.model.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a step to its end, attempt after attempt: run with timers, on success a checkpoint,
 * otherwise scrub, sign, classify, decide. What comes next is {@link Decision}'s to say; this
 * carries it out. Cancellation interrupts it at any point; pauses and takeovers are honoured before
 * an attempt begins.
 */
public final class StepLoop {
  public static final String ATTEMPTS = "task.self_heal.attempts_total";
  public static final String RECOVERED = "task.self_heal.recovered_total";
  public static final String EXHAUSTED = "task.self_heal.exhausted_total";
  public static final String DURATION = "task.step.duration_seconds";
  public static final String WALL_TIMEOUTS = "task.step.wall_timeout_total";
  public static final String IDLE_TIMEOUTS = "task.step.idle_timeout_total";
  public static final String NO_PROGRESS = "task.step.no_progress_total";

  private static final Logger log = LoggerFactory.getLogger(StepLoop.class);

  private final Duration grace;
  private final Journal journal;
  private final Interventions interventions;
  private final UnaryOperator<String> scrub;
  private final Map<String, Step.Failed> lastOf = new ConcurrentHashMap<>();
  private volatile @Nullable Attempt<?> current;
  private int resets;

  /**
   * @param grace for an attempt that was told to stop
   * @param resets how many hard resets the job has had
   */
  public StepLoop(
      Duration grace,
      int resets,
      Journal journal,
      Interventions interventions,
      UnaryOperator<String> scrub) {
    this.grace = grace;
    this.resets = resets;
    this.journal = journal;
    this.interventions = interventions;
    this.scrub = scrub;
  }

  /** A sign of life. From an attempt that was left behind it says nothing of the one at work. */
  public void alive() {
    if (!Attempt.aliveHere()) {
      Attempt<?> now = current;
      if (now != null) {
        now.alive();
      }
    }
  }

  /**
   * @throws dev.holdfast.model.FailedException when it cannot be healed here
   * @throws RedirectException when an operator wants to go on at another step
   * @throws InterruptedException when the job is to stop
   */
  public <T extends @Nullable Object> T run(Step<T> step, Budgets budgets)
      throws InterruptedException {
    return new Course<>(step, budgets).run();
  }

  /** One step on its way. */
  private final class Course<T extends @Nullable Object> {
    final Step<T> step;
    final Budgets budgets;
    final List<FailedAttempt> failed = new ArrayList<>();
    Step.@Nullable Failed last;
    Step.@Nullable Failed before;
    Step.Operators operators = Step.Operators.NONE;
    int attempt;

    Course(Step<T> step, Budgets budgets) {
      this.step = step;
      this.budgets = budgets;
      this.attempt = step.begun();
      // A reset may have begun the step anew, and then this is what it is to be healed of.
      this.last = lastOf.get(step.id());
      this.before = step.before();
    }

    private Step.Retry retry() {
      return new Step.Retry(attempt, last == null ? before : last, operators);
    }

    T run() throws InterruptedException {
      while (true) {
        LiveControl asked = released();
        Recovery accepted = opening(asked) == Decision.Opening.ACCEPT ? asked.recovery() : null;
        begin(asked);
        Instant from = Instant.now();
        long begun = System.nanoTime();
        Step.Retry retry = retry();
        Attempt<T> trial =
            Attempt.start(
                "step-" + step.id() + "-" + attempt,
                () -> accepted == null ? step.attempt(retry) : step.accept(accepted),
                budgets,
                step::lastChange);
        Attempt.End<T> end = await(trial, begun);
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        switch (end) {
          case Attempt.End.Done<T>(var result) -> {
            done(result, took, from);
            return result;
          }
          case Attempt.End.Stopped<T>(var why) when why == Attempt.Stop.OPERATOR -> stopped(took);
          case Attempt.End.Stopped<T>(var why) -> stuck(why, trial.isLeftBehind(), took);
          case Attempt.End.Threw<T>(var thrown) -> threw(thrown, took);
        }
      }
    }

    private Attempt.End<T> await(Attempt<T> trial, long begun) throws InterruptedException {
      current = trial;
      Runnable forget = interventions.whenUrgent(this::concerns, trial::stopForOperator);
      try {
        return trial.await(grace.toNanos());
      } catch (InterruptedException stopped) {
        cutShort(Duration.ofNanos(System.nanoTime() - begun));
        throw stopped;
      } finally {
        forget.run();
        current = null;
      }
    }

    /** Waits while an operator holds the job up, and tells him that nothing runs any more. */
    private LiveControl released() throws InterruptedException {
      ControlAction told = null;
      Optional<String> untouched = Optional.empty();
      while (true) {
        ControlAction known = told;
        LiveControl asked =
            interventions.await(
                now -> opening(now) != Decision.Opening.WAIT || now.hold() != known);
        told = asked.hold();
        if (told == null) {
          untouched.ifPresent(this::takenOver);
          return asked;
        }
        Map<String, Object> data = about(null, null, null);
        data.put("action", told.text());
        if (told == ControlAction.TAKEOVER) {
          // Before anybody is told where it lies: what is changed from here on is the operator's.
          untouched = untouched.or(step::snapshot);
          step.handedOver();
          step.place().ifPresent(path -> data.put("workspace", path.toString()));
        }
        journal.tell(event(EventType.RECOVERY_ACK, data));
      }
    }

    private void takenOver(String untouched) {
      operators = operators.changing(step.changedSince(untouched));
    }

    private Decision.Opening opening(LiveControl asked) {
      return Decision.before(asked, step.id(), step::comesAfter);
    }

    /** Honours what an operator has asked, and says that another attempt begins. */
    private void begin(LiveControl asked) throws InterruptedException {
      List<Journal.Event> events = new ArrayList<>();
      Decision.Opening opening = opening(asked);
      Recovery recovery = opening == Decision.Opening.BEGIN ? null : asked.recovery();
      if (recovery != null) {
        if (opening == Decision.Opening.ELSEWHERE) {
          throw new RedirectException(recovery);
        }
        failed.clear();
        if (opening == Decision.Opening.RESET) {
          step.hardReset();
          last = null;
          before = null;
          operators = operators.inNewWorkspace();
          lastOf.remove(step.id());
          events.add(event(EventType.RESUME_FROM_STEP, about(null, null, Strategy.HARD_RESET)));
        }
        interventions.honour(recovery);
        events.add(acknowledged(recovery));
      }
      operators = operators.asking(interventions.said());
      attempt++;
      events.add(event(EventType.STEP_STARTED, about(null, null, null)));
      write(
          StepState.RUNNING,
          false,
          null,
          opening == Decision.Opening.RESET ? step.index() : null,
          recovery == null ? null : recovery.updatedAt(),
          events);
    }

    /** What is asked of a later step is for later. */
    private boolean concerns(Recovery recovery) {
      return recovery.stepId().equals(step.id()) || step.comesAfter(recovery.stepId());
    }

    private Journal.Event acknowledged(Recovery recovery) {
      Map<String, Object> data = new LinkedHashMap<>();
      data.put("action", recovery.action().text());
      data.put("stepId", recovery.stepId());
      data.put("requestedBy", recovery.requestedBy());
      data.put("reason", recovery.reason());
      data.put("updatedAt", recovery.updatedAt().toString());
      return event(EventType.RECOVERY_ACK, data);
    }

    private void done(T result, Duration took, Instant from) {
      Step.Checkpoint checkpoint = step.checkpoint(result, attempt);
      Map<String, Object> about = about(null, checkpoint.left().diffHash(), null);
      about.put("startedAt", from.toString());
      about.put("seconds", took.toMillis() / 1000.0);
      write(
          StepState.DONE,
          false,
          checkpoint,
          null,
          null,
          List.of(event(EventType.STEP_FINISHED, about)));
      timed(took, "done");
      Step.Failed before = lastOf.remove(step.id());
      if (before != null) {
        count(ATTEMPTS, before.attempt().failureClass(), before.next(), "recovered");
        count(RECOVERED, before.attempt().failureClass(), before.next(), null);
      }
    }

    /** For an operator: it does not count, and what he wants is done next. */
    private void stopped(Duration took) {
      timed(took, "stopped");
      Map<String, Object> about = about(null, null, null);
      about.put("summary", "stopped for an operator");
      write(
          StepState.FAILED, false, null, null, null, List.of(event(EventType.STEP_FAILED, about)));
    }

    /** The whole job is to stop; whether this can still be written, it may no longer be ours to. */
    private void cutShort(Duration took) {
      timed(took, "stopped");
      Map<String, Object> about =
          about(
              new FailedAttempt(attempt, FailureClass.TRANSIENT_RUNTIME, "stopped", null),
              null,
              null);
      about.put("summary", "stopped with its job");
      boolean interrupted = Thread.interrupted();
      try {
        write(
            StepState.INTERRUPTED,
            false,
            null,
            null,
            null,
            List.of(event(EventType.STEP_FAILED, about)));
      } catch (RuntimeException notOurs) {
        log.debug("step {}: that it was stopped could not be written", step.id(), notOurs);
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private void stuck(Attempt.Stop why, boolean leftBehind, Duration took)
        throws InterruptedException {
      boolean wall = why == Attempt.Stop.WALL_TIMEOUT;
      journal.count(wall ? WALL_TIMEOUTS : IDLE_TIMEOUTS, Map.of());
      String text =
          wall
              ? "took longer than %s s".formatted(budgets.stepTimeout().toMillis() / 1000.0)
              : "gave no sign of life for %s s"
                  .formatted(budgets.stepIdleTimeout().toMillis() / 1000.0);
      failed(
          FailureClass.STUCK_NO_PROGRESS,
          text + (leftBehind ? " and ignored being stopped" : ""),
          "",
          text,
          took);
    }

    private void threw(Throwable thrown, Duration took) throws InterruptedException {
      if (thrown instanceof HeldUpException) {
        stopped(took);
        return;
      }
      Failure failure = Failure.from(thrown);
      String trace = failure.stackTrace();
      if (thrown instanceof RuntimeFailedException runtime) {
        // What else it printed is not part of what it is known by: some never say anything twice.
        String message = String.valueOf(runtime.getMessage());
        failed(runtime.failureClass(), message, runtime.lastLines(), message, took);
      } else {
        String message = message(thrown, failure);
        String text = trace == null ? failure.message() : trace;
        failed(Classifier.of(thrown), message, "", text, took);
      }
    }

    /** What we say ourselves needs no exception's name in front. */
    private static String message(Throwable thrown, Failure failure) {
      return thrown instanceof StepException
          ? String.valueOf(thrown.getMessage())
          : failure.message();
    }

    /**
     * @param lastLines what it printed last
     * @param text what the failure is known by
     */
    private void failed(
        FailureClass kind, String message, String lastLines, String text, Duration took)
        throws InterruptedException {
      Step.Left left = step.left();
      FailedAttempt failure =
          new FailedAttempt(attempt, kind, Signature.of(text, scrub), left.diffHash());
      failed.add(failure);
      Decision decision =
          step.isWorkspaceLost()
              ? Decision.withoutWorkspace(failure, resets, budgets)
              : Decision.after(failed, resets, budgets);
      String said = scrub.apply(message);
      String summary = Summary.of(said, scrub.apply(lastLines));
      step.failed(failure, summary, decision.strategy());
      told(failure, decision, said, summary, took);
      last = new Step.Failed(failure, summary, left.changedFiles(), decision.strategy());
      lastOf.put(step.id(), last);
      switch (decision.strategy()) {
        case SOFT_RESET -> {}
        case HARD_RESET -> {
          resets++;
          failed.clear();
          operators = operators.inNewWorkspace();
          step.hardReset();
        }
        case QUEUE_RETRY, FAIL ->
            throw Exhausted.of(
                step.id(),
                decision,
                Text.excerpt(said, Summary.MOST_MESSAGE),
                scrub.apply(lastLines));
      }
    }

    private void told(
        FailedAttempt failure, Decision decision, String said, String summary, Duration took) {
      log.info(
          "step {} attempt {}: {} ({}); {}",
          step.id(),
          attempt,
          Text.excerpt(said, Summary.MOST_MESSAGE),
          decision.failureClass().text(),
          decision.strategy().text());
      timed(took, "failed");
      Step.Failed before = last;
      if (before != null) {
        count(ATTEMPTS, before.attempt().failureClass(), before.next(), "failed");
      }
      if (decision.failureClass() == FailureClass.STUCK_NO_PROGRESS
          && decision.strategy() != Strategy.SOFT_RESET) {
        journal.count(NO_PROGRESS, Map.of());
      }
      Map<String, Object> about = about(failure, failure.diffHash(), decision.strategy());
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
        count(ATTEMPTS, decision.failureClass(), decision.strategy(), "exhausted");
        count(EXHAUSTED, decision.failureClass(), decision.strategy(), null);
      }
      write(
          StepState.FAILED,
          decision.strategy() == Strategy.HARD_RESET,
          null,
          null,
          null,
          List.of(event(EventType.STEP_FAILED, about), event(next, why)));
    }

    private void timed(Duration took, String outcome) {
      journal.time(DURATION, Map.of("outcome", outcome), took);
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

    private void write(
        StepState state,
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

    private Map<String, Object> about(
        @Nullable FailedAttempt failure, @Nullable String diffHash, @Nullable Strategy strategy) {
      Map<String, Object> about = new LinkedHashMap<>();
      about.put("stepId", step.id());
      about.put("stepIndex", step.index());
      about.put("attempt", attempt);
      if (failure != null) {
        about.put("failureClass", failure.failureClass().text());
        about.put("failureSignature", failure.signature());
      }
      if (diffHash != null) {
        about.put("diffHash", diffHash);
      }
      if (strategy != null) {
        about.put("strategy", strategy.text());
      }
      return about;
    }

    private Journal.Event event(String type, Map<String, Object> data) {
      return new Journal.Event(type, data);
    }
  }
}
