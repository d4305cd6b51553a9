package dev.holdfast.worker.steps;

import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Brings the steps of one attempt of a job to their end, one after another, and each of them
 * attempt after attempt: run with timers, save on success, otherwise redact, sign, classify and
 * decide. {@link StepDecision} says what comes next; this carries it out. What an attempt needs is
 * made ready before, and apart from it. Cancellation interrupts it at any point; pauses and
 * takeovers take effect before an attempt begins.
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
  private final ReceivedCommands commands;
  private final UnaryOperator<String> redact;
  private final StepThreads threads;
  private final Map<String, Step.Failed> lastFailures = new ConcurrentHashMap<>();
  private volatile @Nullable StepAttempt<?> running;
  private volatile @Nullable StepProgress<?> current;
  private volatile @Nullable Instant resetFor;
  private int resets;
  private boolean hasBegun;

  /**
   * @param grace for an attempt that was told to stop
   * @param resets how many hard resets the job has had
   */
  public StepLoop(
      Duration grace,
      int resets,
      Journal journal,
      ReceivedCommands commands,
      UnaryOperator<String> redact) {
    this(grace, resets, journal, commands, redact, StepThreads.NEW);
  }

  public StepLoop(
      Duration grace,
      int resets,
      Journal journal,
      ReceivedCommands commands,
      UnaryOperator<String> redact,
      StepThreads threads) {
    this.grace = grace;
    this.resets = resets;
    this.journal = journal;
    this.commands = commands;
    this.redact = redact;
    this.threads = threads;
  }

  /**
   * No attempt has begun a step before: whichever begins first, the job does not continue there.
   */
  public void beginsAnew() {
    hasBegun = true;
  }

  /**
   * A sign of life. From the thread of an attempt that was left behind it does not count for the
   * attempt that runs now.
   */
  public void alive() {
    if (!StepAttempt.aliveHere()) {
      StepAttempt<?> now = running;
      if (now != null) {
        now.alive();
      }
    }
  }

  /** The attempt has something to report: the timeline says before that it began. */
  public void announce() {
    StepProgress<?> now = current;
    if (now != null) {
      now.record.announce(now.attempt);
    }
  }

  /**
   * An operator wants a wait or a start of jobs done again. It has no attempts: this only says so,
   * and drops it and all after it.
   */
  public void dropped(StepStatus step, Recovery wanted) {
    journal
        .write()
        .accept(
            new Report.Step(
                journal.lease(),
                step.id(),
                step.index(),
                StepState.FAILED,
                step.attempt() + 1,
                false,
                null,
                null,
                wanted.action().dropsCheckpoints() ? step.index() : null,
                wanted.updatedAt(),
                List.of(StepEvents.acknowledged(journal.codec(), wanted))));
    commands.markHandled(wanted);
  }

  /**
   * @throws dev.holdfast.model.job.FailedException when it cannot be healed here
   * @throws UnpreparedException when what the step needs cannot be had now
   * @throws InterruptedException when the job is to stop
   */
  public <T extends @Nullable Object> StepEnd<T> run(Step<T> step, Budgets budgets)
      throws InterruptedException {
    StepProgress<T> at =
        new StepProgress<>(
            step, budgets, new StepRecord(journal, step), lastFailures.get(step.id()));
    while (true) {
      PendingCommand asked = awaitNotHeld(at);
      StepDecision.Opening opening = opening(step, asked);
      Recovery wanted = asked.recovery();
      StepEnd<T> leaving = wanted == null ? null : leaving(at, opening, wanted);
      if (leaving != null) {
        return leaving;
      }
      Body<T> body =
          opening == StepDecision.Opening.ACCEPT && wanted != null
              ? retry -> accepted(at, wanted)
              : prepared(at, wanted);
      if (body == null) {
        continue;
      }
      Step.Retry retry = begin(at, opening, wanted);
      StepEnd<T> end = attempt(at, () -> body.run(retry));
      if (end != null) {
        return end;
      }
    }
  }

  /** What an attempt does. */
  private interface Body<T extends @Nullable Object> {
    T run(Step.Retry retry) throws Exception;
  }

  // ---- before an attempt

  /** Waits while an operator holds the job, and acknowledges that no attempt runs. */
  private PendingCommand awaitNotHeld(StepProgress<?> at) throws InterruptedException {
    StepWorkspace<?> workspace = at.workspace;
    CommandAction acknowledged = null;
    Optional<String> untouched = Optional.empty();
    while (true) {
      CommandAction known = acknowledged;
      PendingCommand asked =
          commands.await(
              now -> opening(at.step, now) != StepDecision.Opening.WAIT || now.hold() != known);
      acknowledged = asked.hold();
      if (acknowledged == null) {
        if (workspace != null && untouched.isPresent()) {
          at.operators = at.operators.changing(workspace.changedSince(untouched.get()));
        }
        return asked;
      }
      Path place = null;
      if (acknowledged == CommandAction.TAKEOVER && workspace != null) {
        // Before the operator learns where the workspace is: later changes are the operator's.
        untouched = untouched.or(workspace::snapshot);
        workspace.handedOver();
        place = workspace.place().orElse(null);
      }
      at.record.held(at.attempt, acknowledged, place);
    }
  }

  private static StepDecision.Opening opening(Step<?> step, PendingCommand asked) {
    return StepDecision.before(asked, step.id(), step::comesAfter);
  }

  /** Whether the operator wants something that is not done in this step. */
  private <T extends @Nullable Object> @Nullable StepEnd<T> leaving(
      StepProgress<T> at, StepDecision.Opening opening, Recovery wanted) {
    StepWorkspace<T> workspace = at.workspace;
    if (opening == StepDecision.Opening.ELSEWHERE) {
      if (workspace == null) {
        // On its way there the handler is called again; once is enough.
        resetFor = wanted.updatedAt();
      }
      return new StepEnd.Elsewhere<>(wanted);
    }
    if (opening == StepDecision.Opening.HARD_RESET && !wanted.updatedAt().equals(resetFor)) {
      resetFor = wanted.updatedAt();
      if (workspace == null) {
        return new StepEnd.CallAgain<>();
      }
      workspace.hardReset();
    }
    return null;
  }

  /** The attempt that begins next; null when an operator has come between. */
  private <T extends @Nullable Object> @Nullable Body<T> prepared(
      StepProgress<T> at, @Nullable Recovery known) throws InterruptedException {
    StepWorkspace<T> workspace = at.workspace;
    if (workspace == null) {
      return at.step::attempt;
    }
    StepAttempt<Boolean> preparing =
        StepAttempt.start(
            threads,
            "step-" + at.step.id() + "-preparation",
            () ->
                StepAttempt.withTimersPaused(
                    () -> {
                      workspace.prepare();
                      return true;
                    }),
            at.budgets,
            Optional::empty);
    return switch (awaitStoppable(at, preparing, asked -> !asked.equals(known), () -> {})) {
      case StepAttempt.End.Done<Boolean>(var done) -> at.step::attempt;
      case StepAttempt.End.Stopped<Boolean>(var why) -> null;
      case StepAttempt.End.Threw<Boolean>(var thrown)
          when thrown instanceof PausedDuringRebuildException ->
          null;
      case StepAttempt.End.Threw<Boolean>(var thrown)
          when thrown instanceof Exception permanent && !Classifier.of(permanent).isRetryable() ->
          // The step's failure: the attempt that begins now has it.
          retry -> {
            throw permanent;
          };
      case StepAttempt.End.Threw<Boolean>(var thrown) ->
          throw new UnpreparedException(
              Text.excerpt(
                  redact.apply(StepFailure.thrown(thrown).message()), Summary.MOST_MESSAGE));
    };
  }

  private static <T extends @Nullable Object> T accepted(StepProgress<T> at, Recovery by)
      throws Exception {
    if (at.workspace == null) {
      throw new StepException(
          FailureClass.DETERMINISTIC_CONTRACT,
          "step '%s' has no workspace, so it cannot be done by hand".formatted(at.step.id()));
    }
    return at.workspace.accept(by);
  }

  /** An attempt begins, maybe because an operator wants it. */
  private Step.Retry begin(
      StepProgress<?> at, StepDecision.Opening opening, @Nullable Recovery wanted) {
    Recovery handled = opening == StepDecision.Opening.BEGIN ? null : wanted;
    boolean reset = opening == StepDecision.Opening.HARD_RESET;
    if (handled != null) {
      at.failed.clear();
      if (reset) {
        at.forgetFailures();
        at.operators = at.operators.inNewWorkspace();
        lastFailures.remove(at.step.id());
      }
      commands.markHandled(handled);
    }
    at.operators = at.operators.asking(commands.takeRequests());
    at.attempt++;
    boolean first = !hasBegun;
    hasBegun = true;
    Strategy resumed = at.resumed(first, reset).orElse(null);
    if (at.workspace == null && at.attempt == 1 && handled == null && resumed == null) {
      at.record.beganQuietly();
    } else {
      at.record.began(at.attempt, handled, reset, resumed);
    }
    return at.retry();
  }

  // ---- an attempt

  /** Null when another one follows. */
  private <T extends @Nullable Object> @Nullable StepEnd<T> attempt(
      StepProgress<T> at, Callable<T> body) throws InterruptedException {
    StepWorkspace<T> workspace = at.workspace;
    Instant from = Instant.now();
    long begunAt = System.nanoTime();
    current = at;
    StepAttempt<T> attempt =
        StepAttempt.start(
            threads,
            "step-" + at.step.id() + "-" + at.attempt,
            body,
            at.budgets,
            () -> workspace == null ? Optional.empty() : workspace.lastChange());
    StepAttempt.End<T> end;
    try {
      end = awaitStoppable(at, attempt, any -> true, () -> at.record.announce(at.attempt));
    } catch (InterruptedException stopped) {
      at.record.interrupted(at.attempt, Duration.ofNanos(System.nanoTime() - begunAt));
      throw stopped;
    } finally {
      current = null;
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begunAt);
    return switch (end) {
      case StepAttempt.End.Done<T>(var result) -> {
        Step.Saved saved = at.step.save(result, at.attempt);
        at.record.done(at.attempt, saved, from, took, lastFailures.remove(at.step.id()));
        yield new StepEnd.Done<>(result);
      }
      case StepAttempt.End.Stopped<T>(var why) when why == StepAttempt.Stop.OPERATOR -> {
        at.record.stopped(at.attempt, took);
        yield null;
      }
      case StepAttempt.End.Stopped<T>(var why) -> {
        boolean wall = why == StepAttempt.Stop.WALL_TIMEOUT;
        yield failed(
            at,
            StepFailure.timedOut(wall, attempt.isLeftBehind(), at.budgets),
            took,
            wall ? WALL_TIMEOUTS : IDLE_TIMEOUTS);
      }
      case StepAttempt.End.Threw<T>(var thrown) ->
          failed(at, StepFailure.thrown(thrown), took, null);
    };
  }

  private <R extends @Nullable Object> StepAttempt.End<R> awaitStoppable(
      StepProgress<?> at, StepAttempt<R> attempt, Predicate<Recovery> isNews, Runnable isLong)
      throws InterruptedException {
    running = attempt;
    Runnable forget =
        commands.whenUrgent(
            wanted -> isNews.test(wanted) && wanted.concerns(at.step.id(), at.step::comesAfter),
            attempt::stopForOperator);
    try {
      return attempt.await(grace.toNanos(), isLong);
    } finally {
      forget.run();
      running = null;
    }
  }

  // ---- after a failed attempt

  private <T extends @Nullable Object> @Nullable StepEnd<T> failed(
      StepProgress<T> at, StepFailure how, Duration took, @Nullable String timeout) {
    StepWorkspace<T> workspace = at.workspace;
    Step.Left left = workspace == null ? Step.Left.NOTHING : workspace.left();
    FailedAttempt failure =
        new FailedAttempt(
            at.attempt, how.failureClass(), Signature.of(how.text(), redact), left.diffHash());
    at.failed.add(failure);
    StepDecision decision =
        workspace != null && workspace.isLost()
            ? StepDecision.withoutWorkspace(failure, resets, at.budgets)
            : StepDecision.after(at.failed, resets, at.budgets);
    FailedAttempt judged = failure.as(decision.failureClass());
    String message = redact.apply(how.message());
    String lastLines = redact.apply(how.lastLines());
    String summary = Summary.of(message, lastLines);
    if (workspace != null) {
      workspace.failed(judged, summary, decision.strategy());
    }
    at.record.failed(judged, decision, message, summary, took, at.last);
    if (timeout != null) {
      at.record.timedOut(timeout, decision);
    }
    Step.Failed last = new Step.Failed(judged, summary, left.changedFiles(), decision.strategy());
    at.last = last;
    lastFailures.put(at.step.id(), last);
    return switch (decision.strategy()) {
      case SOFT_RESET -> null;
      case HARD_RESET -> {
        resets++;
        if (workspace == null) {
          // An operator who has asked for the same since the attempt ended gets it by this one.
          commands.pending().ifPresent(asked -> resetFor = asked.updatedAt());
          yield new StepEnd.CallAgain<>();
        }
        at.beginsInNewWorkspace();
        workspace.hardReset();
        yield null;
      }
      case QUEUE_RETRY, FAIL ->
          throw decision.failure(
              at.step.id(), Text.excerpt(message, Summary.MOST_MESSAGE), lastLines);
    };
  }
}
