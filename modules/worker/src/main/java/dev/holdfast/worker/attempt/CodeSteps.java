package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.steps.Budgets;
import dev.holdfast.steps.Interventions;
import dev.holdfast.steps.Journal;
import dev.holdfast.steps.RedirectException;
import dev.holdfast.steps.Step;
import dev.holdfast.steps.StepLoop;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The steps that a handler runs by {@code context.step}. One that is done is not run again: its
 * result is read from the checkpoint, by whichever attempt comes to it, on whichever worker.
 *
 * <p>What a workspace is to a program, the handler itself is to its code: a hard reset begins it
 * anew, from its first line, past the checkpoints.
 */
public final class CodeSteps {
  private static final Json NOTHING = new Json("null");
  private static final Map<String, String> CUT_OFF =
      Map.of("class", "transient_runtime", "strategy", "queue_retry", "outcome", "interrupted");

  /** Reads what an attempt before this one has done. */
  interface Source {
    List<StepStatus> steps();
  }

  private final LeasedJob job;
  private final Codec codec;
  private final Source source;
  private final Journal journal;
  private final Interventions interventions;
  private final UnaryOperator<String> scrub;
  private final Duration grace;
  private final Map<String, StepStatus> known = new LinkedHashMap<>();
  private final Set<String> begun = new HashSet<>();
  private @Nullable StepLoop loop;
  private @Nullable Instant begunAnewFor;
  private boolean again;

  CodeSteps(
      LeasedJob job,
      Codec codec,
      Source source,
      Journal journal,
      Interventions interventions,
      UnaryOperator<String> scrub,
      Duration grace) {
    this.job = job;
    this.codec = codec;
    this.source = source;
    this.journal = journal;
    this.interventions = interventions;
    this.scrub = scrub;
    this.grace = grace;
  }

  /** Leaves the handler, to begin it anew. */
  static final class AgainException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AgainException(String why) {
      super(why, null, false, false);
    }
  }

  <T extends @Nullable Object> T run(String id, Class<T> type, Budgets budgets, Callable<T> body)
      throws InterruptedException {
    StepStatus before = begin(Limits.stepId(id));
    if (before.isDone() && !isAskedFor(before)) {
      return decoded(before.checkpoint(), type);
    }
    try {
      return loop().run(new CodeStep<>(before, body), budgets);
    } catch (RedirectException elsewhere) {
      throw again(elsewhere.recovery());
    }
  }

  @SuppressWarnings("NullAway") // A step without a result has none to decode.
  private <T extends @Nullable Object> T decoded(@Nullable Json checkpoint, Class<T> type) {
    return checkpoint == null || checkpoint.equals(NOTHING) ? null : codec.decode(checkpoint, type);
  }

  /** For whoever runs a job's steps himself. */
  public record Opened(StepLoop loop, List<StepStatus> known) {}

  public synchronized Opened open() {
    reload();
    return new Opened(loop(), List.copyOf(known.values()));
  }

  void alive() {
    StepLoop running = loop;
    if (running != null) {
      running.alive();
    }
  }

  /** Whether the handler is to begin anew; asked when it has left, however it did. */
  synchronized boolean beginsAgain() {
    boolean wanted = again;
    again = false;
    begun.clear();
    return wanted;
  }

  private synchronized AgainException again(@Nullable Recovery wanted) {
    again = true;
    begunAnewFor = wanted == null ? null : wanted.updatedAt();
    reload();
    return new AgainException(wanted == null ? "hard reset" : wanted.action().text());
  }

  private synchronized StepStatus begin(String id) {
    if (loop == null) {
      // What operators have asked before this attempt began is known from here on, too.
      reload();
    }
    if (!begun.add(id)) {
      throw new IllegalStateException(
          "step '%s' has been run in this attempt: each step needs an id of its own".formatted(id));
    }
    return known.computeIfAbsent(id, this::first);
  }

  private StepStatus first(String id) {
    int last = known.values().stream().mapToInt(StepStatus::index).max().orElse(0);
    if (last >= Limits.STEPS) {
      throw new IllegalStateException("a job has at most %,d steps".formatted(Limits.STEPS));
    }
    return new StepStatus(
        id, last + 1, StepState.FAILED, 0, 0, null, null, Instant.EPOCH, null, null);
  }

  private void reload() {
    known.clear();
    source.steps().forEach(step -> known.put(step.id(), step));
    if (loop == null) {
      // Whoever ran these could not count them any more.
      known.values().stream()
          .filter(step -> step.state() == StepState.INTERRUPTED)
          .forEach(step -> journal.count(StepLoop.ATTEMPTS, CUT_OFF));
      int resets = known.values().stream().mapToInt(StepStatus::resets).sum();
      loop = new StepLoop(grace, resets, journal, interventions, scrub);
    }
  }

  private StepLoop loop() {
    StepLoop made = loop;
    if (made == null) {
      throw new IllegalStateException(job.lease() + " has no steps yet");
    }
    return made;
  }

  /** An operator wants this step or one before it done again. */
  private boolean isAskedFor(StepStatus step) {
    return interventions
        .pending()
        .map(Recovery::stepId)
        .map(id -> id.equals(step.id()) || isBefore(id, step))
        .orElse(false);
  }

  private synchronized boolean isBefore(String id, StepStatus step) {
    StepStatus other = known.get(id);
    return other != null && other.index() < step.index();
  }

  private final class CodeStep<T extends @Nullable Object> implements Step<T> {
    private final StepStatus before;
    private final Callable<T> body;

    CodeStep(StepStatus before, Callable<T> body) {
      this.before = before;
      this.body = body;
    }

    @Override
    public String id() {
      return before.id();
    }

    @Override
    public int index() {
      return before.index();
    }

    @Override
    public int begun() {
      return before.attempt();
    }

    @Override
    public boolean comesAfter(String other) {
      return isBefore(other, before);
    }

    @Override
    public T attempt(Retry retry) throws Exception {
      return body.call();
    }

    @Override
    public Checkpoint checkpoint(T result, int attempt) {
      Json json = result == null ? NOTHING : Limits.result(codec.encode(result));
      return new Checkpoint(json, null, left());
    }

    @Override
    public void hardReset() {
      Recovery wanted = interventions.pending().orElse(null);
      if (wanted == null || !wanted.updatedAt().equals(begunAnewFor)) {
        throw again(wanted);
      }
    }
  }
}
