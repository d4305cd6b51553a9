package dev.holdfast.steps;

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
import org.jspecify.annotations.Nullable;

/**
 * One step, attempt after attempt: run with timers, save on success, otherwise redact, sign,
 * classify and decide. {@link Decision} says what comes next; this carries it out. Cancellation
 * interrupts it at any point; pauses and takeovers take effect before an attempt begins.
 */
final class StepRunner<T extends @Nullable Object> {
  private final StepLoop loop;
  private final Step<T> step;
  private final Budgets budgets;
  private final StepRecord record;
  private final List<FailedAttempt> failed = new ArrayList<>();
  private Step.@Nullable Failed last;
  private Step.@Nullable Failed before;
  private Step.Operators operators = Step.Operators.NONE;
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
      Callable<T> body = begin(awaitNotHeld());
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
          record.timedOut(wall);
          failed(StepFailure.timedOut(wall, running.isLeftBehind(), budgets), took);
        }
        case StepAttempt.End.Threw<T>(var thrown)
            when thrown instanceof PausedDuringRebuildException ->
            record.stopped(attempt, took);
        case StepAttempt.End.Threw<T>(var thrown) -> failed(StepFailure.thrown(thrown), took);
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
        step.hardReset();
        last = null;
        before = null;
        operators = operators.inNewWorkspace();
        loop.lastFailures.remove(step.id());
      }
      loop.commands.markHandled(recovery);
    }
    operators = operators.asking(loop.commands.takeRequests());
    attempt++;
    record.began(attempt, recovery, reset);
    if (recovery != null && opening == Decision.Opening.ACCEPT) {
      return () -> step.accept(recovery);
    }
    Step.Retry retry = new Step.Retry(attempt, last == null ? before : last, operators);
    return () -> step.attempt(retry);
  }

  // ---- during an attempt

  private StepAttempt.End<T> await(StepAttempt<T> running, long begun) throws InterruptedException {
    loop.running(running);
    Runnable forget =
        loop.commands.whenUrgent(
            recovery -> recovery.concerns(step.id(), step::comesAfter), running::stopForOperator);
    try {
      return running.await(loop.grace.toNanos());
    } catch (InterruptedException stopped) {
      record.interrupted(attempt, Duration.ofNanos(System.nanoTime() - begun));
      throw stopped;
    } finally {
      forget.run();
      loop.running(null);
    }
  }

  // ---- after a failed attempt

  private void failed(StepFailure how, Duration took) throws InterruptedException {
    Step.Left left = step.left();
    FailedAttempt failure =
        new FailedAttempt(
            attempt, how.failureClass(), Signature.of(how.text(), loop.redact), left.diffHash());
    failed.add(failure);
    Decision decision =
        step.isWorkspaceLost()
            ? Decision.withoutWorkspace(failure, loop.resets(), budgets)
            : Decision.after(failed, loop.resets(), budgets);
    String message = loop.redact.apply(how.message());
    String lastLines = loop.redact.apply(how.lastLines());
    String summary = Summary.of(message, lastLines);
    step.failed(failure, summary, decision.strategy());
    record.failed(failure, decision, message, summary, took, last);
    last = new Step.Failed(failure, summary, left.changedFiles(), decision.strategy());
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
