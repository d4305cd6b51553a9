package dev.holdfast.worker.steps;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Brings the steps of one attempt to their end, one after another. {@link StepRunner} is one of
 * them; this keeps what outlives it: the job's resets, and how each step failed last.
 */
public final class StepLoop {
  public static final String ATTEMPTS = "task.self_heal.attempts_total";
  public static final String RECOVERED = "task.self_heal.recovered_total";
  public static final String EXHAUSTED = "task.self_heal.exhausted_total";
  public static final String DURATION = "task.step.duration_seconds";
  public static final String WALL_TIMEOUTS = "task.step.wall_timeout_total";
  public static final String IDLE_TIMEOUTS = "task.step.idle_timeout_total";
  public static final String NO_PROGRESS = "task.step.no_progress_total";

  final Duration grace;
  final Journal journal;
  final ReceivedCommands commands;
  final UnaryOperator<String> redact;
  final Map<String, Step.Failed> lastFailures = new ConcurrentHashMap<>();
  private volatile @Nullable StepAttempt<?> running;
  private int resets;
  private boolean begun;

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
    this.grace = grace;
    this.resets = resets;
    this.journal = journal;
    this.commands = commands;
    this.redact = redact;
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

  /**
   * @throws dev.holdfast.model.job.FailedException when it cannot be healed here
   * @throws UnpreparedException when what the step needs cannot be had now
   * @throws RedirectException when an operator wants to continue at another step
   * @throws InterruptedException when the job is to stop
   */
  public <T extends @Nullable Object> T run(Step<T> step, Budgets budgets)
      throws InterruptedException {
    return new StepRunner<>(this, step, budgets).run();
  }

  void running(@Nullable StepAttempt<?> attempt) {
    running = attempt;
  }

  /** Whether this attempt of the job has begun no step so far. */
  boolean beginsFirst() {
    boolean first = !begun;
    begun = true;
    return first;
  }

  int resets() {
    return resets;
  }

  void countReset() {
    resets++;
  }
}
