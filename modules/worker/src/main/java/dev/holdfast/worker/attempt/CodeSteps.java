package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.RedirectException;
import dev.holdfast.worker.steps.Step;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The steps that a handler runs by {@code context.step}. One that is done is not run again: its
 * result is read from the checkpoint, by whichever attempt comes to it, on whichever worker.
 *
 * <p>A hard reset calls the handler again, from its first line, past the checkpoints: the state of
 * such a step is that of the handler's code.
 */
final class CodeSteps {
  private static final Json NOTHING = new Json("null");

  private final Codec codec;
  private final AttemptSteps steps;
  private final Set<String> begun = new HashSet<>();
  private @Nullable Instant begunAnewFor;
  private boolean again;

  CodeSteps(Codec codec, AttemptSteps steps) {
    this.codec = codec;
    this.steps = steps;
  }

  /** Ends the handler, to call it again. */
  static final class AgainException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AgainException(String why) {
      super(why, null, false, false);
    }
  }

  <T extends @Nullable Object> T run(
      String id, PayloadType<T> type, Budgets budgets, Callable<T> body)
      throws InterruptedException {
    StepStatus before = begin(Limits.stepId(id));
    if (before.isDone() && !steps.isAskedFor(before)) {
      return decoded(before.checkpoint(), type);
    }
    try {
      return steps.loop().run(new CodeStep<>(before, body), budgets);
    } catch (RedirectException elsewhere) {
      throw again(elsewhere.recovery());
    }
  }

  @SuppressWarnings("NullAway") // A step without a result has none to decode.
  private <T extends @Nullable Object> T decoded(@Nullable Json checkpoint, PayloadType<T> type) {
    return checkpoint == null || checkpoint.equals(NOTHING) ? null : codec.decode(checkpoint, type);
  }

  private synchronized StepStatus begin(String id) {
    StepStatus before = steps.status(id);
    if (!begun.add(id)) {
      throw new IllegalStateException(
          "step '%s' has been run in this attempt: each step needs an id of its own".formatted(id));
    }
    return before;
  }

  /** Whether the handler is to be called again; checked when it has ended, however it did. */
  synchronized boolean beginsAgain() {
    boolean wanted = again;
    again = false;
    begun.clear();
    return wanted;
  }

  private synchronized AgainException again(@Nullable Recovery wanted) {
    again = true;
    begunAnewFor = wanted == null ? null : wanted.updatedAt();
    steps.load();
    return new AgainException(wanted == null ? "hard reset" : wanted.action().text());
  }

  private final class CodeStep<T extends @Nullable Object> implements Step<T> {
    private final StepStatus before;
    private final Callable<T> body;

    CodeStep(StepStatus before, Callable<T> body) {
      this.before = before;
      this.body = AttemptMdc.carried(body);
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
      return steps.isBefore(other, before);
    }

    @Override
    public T attempt(Retry retry) throws Exception {
      return body.call();
    }

    @Override
    public Saved save(T result, int attempt) {
      Json json = result == null ? NOTHING : Limits.result(codec.encode(result));
      return new Saved(json, null, left());
    }

    @Override
    public void hardReset() {
      Recovery wanted = steps.commands().pending().orElse(null);
      if (wanted == null || !wanted.updatedAt().equals(begunAnewFor)) {
        throw again(wanted);
      }
    }
  }
}
