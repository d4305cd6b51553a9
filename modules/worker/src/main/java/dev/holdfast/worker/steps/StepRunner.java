package dev.holdfast.worker.steps;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One step, attempt after attempt: run with timers, save on success, otherwise redact, sign,
 * classify and decide. {@link Decision} says what comes next; this carries it out. What an attempt
 * needs is made ready before, and apart from it. Cancellation interrupts it at any point; pauses
 * and takeovers take effect before an attempt begins.
 */
final class StepRunner<T extends @Nullable Object> {
  private final StepLoop loop;
  private final Step<T> step;
  private final Budgets budgets;
  private final StepRecord record;
  private final List<FailedAttempt> failed = new ArrayList<>();
  private Step.@Nullable Failed last;
  private Step.@Nullable Failed before;
  private Step.@Nullable Failed resumedAfter;
  private Step.Operators operators = Step.Operators.NONE;
  private @Nullable Instant resetFor;
  private @Nullable Exception unfit;
  private int attempt;

  StepRunner(StepLoop loop, Step<T> step, Budgets budgets) {
    this.loop = loop;
    this.step = step;
    this.budgets = budgets;
    this.record = new StepRecord(loop.journal, step);
    this.attempt = step.begun();
    // After a hard reset of the step this is the failure that led to it.
    this.last = loop.lastFailures.get(step.id());
    this.before = step.before();
  }

  T run() throws InterruptedException {
    while (true) {
      PendingCommand asked = awaitNotHeld();
      if (!isPrepared(asked)) {
        continue;
      }
      Callable<T> body = begin(asked);
      Instant from = Instant.now();
      long begun = System.nanoTime();
      StepAttempt<T> running =
          StepAttempt.start("step-" + step.id() + "-" + attempt, body, budgets, step::lastChange);
      StepAttempt.End<T> end = await(running, begun);
      Duration took = Duration.ofNanos(System.nanoTime() - begun);
      switch (end) {
        case StepAttempt.End.Done<T>(var result) -> {
          Step.Saved saved = step.save(result, attempt);
          record.done(attempt, saved, from, took, loop.lastFailures.remove(step.id()));
          return result;
        }
        case StepAttempt.End.Stopped<T>(var why) when why == StepAttempt.Stop.OPERATOR ->
            record.stopped(attempt, took);
        case StepAttempt.End.Stopped<T>(var why) -> {
          boolean wall = why == StepAttempt.Stop.WALL_TIMEOUT;
          failed(
              StepFailure.timedOut(wall, running.isLeftBehind(), budgets),
              took,
              wall ? StepLoop.WALL_TIMEOUTS : StepLoop.IDLE_TIMEOUTS);
        }
        case StepAttempt.End.Threw<T>(var thrown) -> failed(StepFailure.thrown(thrown), took, null);
      }
    }
  }

  // ---- before an attempt

  /** Waits while an operator holds the job, and acknowledges that no attempt runs. */
  private PendingCommand awaitNotHeld() throws InterruptedException {
    CommandAction acknowledged = null;
    Optional<String> untouched = Optional.empty();
    while (true) {
      CommandAction known = acknowledged;
      PendingCommand asked =
          loop.commands.await(now -> opening(now) != Decision.Opening.WAIT || now.hold() != known);
      acknowledged = asked.hold();
      if (acknowledged == null) {
        untouched.map(step::changedSince).ifPresent(files -> operators = operators.changing(files));
        return asked;
      }
      Path workspace = null;
      if (acknowledged == CommandAction.TAKEOVER) {
        // Before the operator learns where the workspace is: later changes are the operator's.
        untouched = untouched.or(step::snapshot);
        step.handedOver();
        workspace = step.place().orElse(null);
      }
      record.held(attempt, acknowledged, workspace);
    }
  }

  /** False when an operator has come between, and is to be listened to first. */
  private boolean isPrepared(PendingCommand asked) throws InterruptedException {
    Decision.Opening opening = opening(asked);
    Recovery recovery = asked.recovery();
    unfit = null;
    if (opening == Decision.Opening.ELSEWHERE || opening == Decision.Opening.ACCEPT) {
      return true;
    }
    if (opening == Decision.Opening.RESET
        && recovery != null
        && !recovery.updatedAt().equals(resetFor)) {
      step.hardReset();
      resetFor = recovery.updatedAt();
    }
    return step.isPrepared() || isPreparedNow(recovery);
  }

  private boolean isPreparedNow(@Nullable Recovery known) throws InterruptedException {
    StepAttempt<Boolean> preparing =
        StepAttempt.start(
            "step-" + step.id() + "-preparation",
            () ->
                StepAttempt.withTimersPaused(
                    () -> {
                      step.prepare();
                      return true;
                    }),
            budgets,
            Optional::empty);
    return switch (awaitStoppable(preparing, asked -> !asked.equals(known))) {
      case StepAttempt.End.Done<Boolean>(var done) -> done;
      case StepAttempt.End.Stopped<Boolean>(var why) -> false;
      case StepAttempt.End.Threw<Boolean>(var thrown)
          when thrown instanceof PausedDuringRebuildException ->
          false;
      case StepAttempt.End.Threw<Boolean>(var thrown)
          when thrown instanceof Exception permanent && !Classifier.of(permanent).isRetryable() -> {
        // The step's failure: the attempt that begins now has it.
        unfit = permanent;
        yield true;
      }
      case StepAttempt.End.Threw<Boolean>(var thrown) ->
          throw new UnpreparedException(
              Text.excerpt(
                  loop.redact.apply(StepFailure.thrown(thrown).message()), Summary.MOST_MESSAGE));
    };
  }

  private Decision.Opening opening(PendingCommand asked) {
    return Decision.before(asked, step.id(), step::comesAfter);
  }

  /** Handles a requested recovery; returns what the attempt that begins does. */
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
        last = null;
        before = null;
        operators = operators.inNewWorkspace();
        loop.lastFailures.remove(step.id());
      }
      loop.commands.markHandled(recovery);
    }
    operators = operators.asking(loop.commands.takeRequests());
    attempt++;
    record.began(attempt, recovery, reset, resumed(reset));
    if (recovery != null && opening == Decision.Opening.ACCEPT) {
      return () -> step.accept(recovery);
    }
    Exception known = unfit;
    if (known != null) {
      return () -> {
        throw known;
      };
    }
    Step.Retry retry = new Step.Retry(attempt, last == null ? before : last, operators);
    return () -> step.attempt(retry);
  }

  /** After what the job continues at this step; null if it merely begins or repeats it. */
  @SuppressWarnings("ReferenceEquality") // another failure, also if it is equal
  private @Nullable Strategy resumed(boolean byOperator) {
    boolean first = loop.beginsFirst();
    Step.Failed failure = last;
    boolean afterReset =
        failure != null && failure.next() == Strategy.HARD_RESET && failure != resumedAfter;
    resumedAfter = failure;
    if (byOperator || afterReset) {
      return Strategy.HARD_RESET;
    }
    // Its steps were begun by an earlier attempt of the job.
    return first && (step.begun() > 0 || step.index() > 1) ? Strategy.QUEUE_RETRY : null;
  }

  // ---- during an attempt

  private StepAttempt.End<T> await(StepAttempt<T> running, long begun) throws InterruptedException {
    try {
      return awaitStoppable(running, any -> true);
    } catch (InterruptedException stopped) {
      record.interrupted(attempt, Duration.ofNanos(System.nanoTime() - begun));
      throw stopped;
    }
  }

  private <R extends @Nullable Object> StepAttempt.End<R> awaitStoppable(
      StepAttempt<R> running, Predicate<Recovery> isNews) throws InterruptedException {
    loop.running(running);
    Runnable forget =
        loop.commands.whenUrgent(
            recovery -> isNews.test(recovery) && recovery.concerns(step.id(), step::comesAfter),
            running::stopForOperator);
    try {
      return running.await(loop.grace.toNanos());
    } finally {
      forget.run();
      loop.running(null);
    }
  }

  // ---- after a failed attempt

  private void failed(StepFailure how, Duration took, @Nullable String timeout)
      throws InterruptedException {
    Step.Left left = step.left();
    FailedAttempt failure =
        new FailedAttempt(
            attempt, how.failureClass(), Signature.of(how.text(), loop.redact), left.diffHash());
    failed.add(failure);
    Decision decision =
        step.isWorkspaceLost()
            ? Decision.withoutWorkspace(failure, loop.resets(), budgets)
            : Decision.after(failed, loop.resets(), budgets);
    FailedAttempt judged = failure.as(decision.failureClass());
    String message = loop.redact.apply(how.message());
    String lastLines = loop.redact.apply(how.lastLines());
    String summary = Summary.of(message, lastLines);
    step.failed(judged, summary, decision.strategy());
    record.failed(judged, decision, message, summary, took, last);
    if (timeout != null) {
      record.timedOut(timeout, decision);
    }
    last = new Step.Failed(judged, summary, left.changedFiles(), decision.strategy());
    loop.lastFailures.put(step.id(), last);
    switch (decision.strategy()) {
      case SOFT_RESET -> {}
      case HARD_RESET -> {
        loop.countReset();
        failed.clear();
        operators = operators.inNewWorkspace();
        step.hardReset();
      }
      case QUEUE_RETRY, FAIL ->
          throw Exhausted.of(
              step.id(), decision, Text.excerpt(message, Summary.MOST_MESSAGE), lastLines);
    }
  }
}
