package dev.holdfast.steps;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

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

  private final Duration grace;
  private final Journal journal;
  private final Interventions interventions;
  private final UnaryOperator<String> scrub;
  private final Map<String, Step.Failed> lastOf = new ConcurrentHashMap<>();
  private volatile @Nullable StepAttempt<?> current;
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
    if (!StepAttempt.aliveHere()) {
      StepAttempt<?> now = current;
      if (now != null) {
        now.alive();
      }
    }
  }

  /**
   * @throws dev.holdfast.model.job.FailedException when it cannot be healed here
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
    final StepRecord record;
    final List<FailedAttempt> failed = new ArrayList<>();
    Step.@Nullable Failed last;
    Step.@Nullable Failed before;
    Step.Operators operators = Step.Operators.NONE;
    int attempt;

    Course(Step<T> step, Budgets budgets) {
      this.step = step;
      this.budgets = budgets;
      this.record = new StepRecord(journal, step);
      this.attempt = step.begun();
      // A reset may have begun the step anew, and then this is what it is to be healed of.
      this.last = lastOf.get(step.id());
      this.before = step.before();
    }

    T run() throws InterruptedException {
      while (true) {
        Callable<T> body = begin(released());
        Instant from = Instant.now();
        long begun = System.nanoTime();
        StepAttempt<T> trial =
            StepAttempt.start("step-" + step.id() + "-" + attempt, body, budgets, step::lastChange);
        StepAttempt.End<T> end = await(trial, begun);
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        switch (end) {
          case StepAttempt.End.Done<T>(var result) -> {
            Step.Checkpoint checkpoint = step.checkpoint(result, attempt);
            record.done(attempt, checkpoint, from, took, lastOf.remove(step.id()));
            return result;
          }
          case StepAttempt.End.Stopped<T>(var why) when why == StepAttempt.Stop.OPERATOR ->
              record.stopped(attempt, took);
          case StepAttempt.End.Stopped<T>(var why) -> stuck(why, trial.isLeftBehind(), took);
          case StepAttempt.End.Threw<T>(var thrown) -> threw(thrown, took);
        }
      }
    }

    /** Waits while an operator holds the job up, and tells him that nothing runs any more. */
    private PendingCommand released() throws InterruptedException {
      CommandAction told = null;
      Optional<String> untouched = Optional.empty();
      while (true) {
        CommandAction known = told;
        PendingCommand asked =
            interventions.await(
                now -> opening(now) != Decision.Opening.WAIT || now.hold() != known);
        told = asked.hold();
        if (told == null) {
          untouched
              .map(step::changedSince)
              .ifPresent(files -> operators = operators.changing(files));
          return asked;
        }
        Path workspace = null;
        if (told == CommandAction.TAKEOVER) {
          // Before anybody is told where it lies: what is changed from here on is the operator's.
          untouched = untouched.or(step::snapshot);
          step.handedOver();
          workspace = step.place().orElse(null);
        }
        record.heldUp(attempt, told, workspace);
      }
    }

    private Decision.Opening opening(PendingCommand asked) {
      return Decision.before(asked, step.id(), step::comesAfter);
    }

    /** Honours what an operator has asked; the answer is what the attempt that begins does. */
    private Callable<T> begin(PendingCommand asked) throws InterruptedException {
      Decision.Opening opening = opening(asked);
      Recovery recovery = opening == Decision.Opening.BEGIN ? null : asked.recovery();
      boolean reset = opening == Decision.Opening.RESET;
      if (recovery != null) {
        if (opening == Decision.Opening.ELSEWHERE) {
          throw new RedirectException(recovery);
        }
        failed.clear();
        if (reset) {
          step.hardReset();
          last = null;
          before = null;
          operators = operators.inNewWorkspace();
          lastOf.remove(step.id());
        }
        interventions.honour(recovery);
      }
      operators = operators.asking(interventions.said());
      attempt++;
      record.began(attempt, recovery, reset);
      if (recovery != null && opening == Decision.Opening.ACCEPT) {
        return () -> step.accept(recovery);
      }
      Step.Retry retry = new Step.Retry(attempt, last == null ? before : last, operators);
      return () -> step.attempt(retry);
    }

    private StepAttempt.End<T> await(StepAttempt<T> trial, long begun) throws InterruptedException {
      current = trial;
      Runnable forget = interventions.whenUrgent(this::concerns, trial::stopForOperator);
      try {
        return trial.await(grace.toNanos());
      } catch (InterruptedException stopped) {
        record.cutShort(attempt, Duration.ofNanos(System.nanoTime() - begun));
        throw stopped;
      } finally {
        forget.run();
        current = null;
      }
    }

    /** What is asked of a later step is for later. */
    private boolean concerns(Recovery recovery) {
      return recovery.stepId().equals(step.id()) || step.comesAfter(recovery.stepId());
    }

    private void stuck(StepAttempt.Stop why, boolean leftBehind, Duration took)
        throws InterruptedException {
      boolean wall = why == StepAttempt.Stop.WALL_TIMEOUT;
      record.timedOut(wall);
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
        record.stopped(attempt, took);
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
      record.failed(failure, decision, said, summary, took, last);
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
  }
}
