package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.Step;
import dev.holdfast.worker.steps.StepEnd;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The steps that a handler runs by {@code context.step}. One that is done is not run again: its
 * result is read from the checkpoint, by whichever attempt comes to it, on whichever worker.
 *
 * <p>A hard reset calls the handler again, from its first line, past the checkpoints: the state of
 * such a step is that of the handler's code. That this is to happen is kept here; what is thrown
 * only leaves the handler, and one that catches it gets it again from its next step.
 */
final class CodeSteps {
  private static final Json NOTHING = new Json("null");

  private final Codec codec;
  private final AttemptSteps steps;
  private final Set<String> begun = new HashSet<>();
  private @Nullable String anew;

  CodeSteps(Codec codec, AttemptSteps steps) {
    this.codec = codec;
    this.steps = steps;
  }

  /** Leaves the handler. An error, because handlers may well catch the exceptions of a step. */
  private static final class LeaveHandlerError extends Error {
    private static final long serialVersionUID = 1L;

    LeaveHandlerError(String why) {
      super(why, null, false, false);
    }
  }

  <T extends @Nullable Object> T run(
      String id, PayloadType<T> type, Budgets budgets, Callable<T> body)
      throws InterruptedException {
    StepStatus before = begin(Limits.stepId(id));
    if (before.isDone() && before.waitEnd() != null) {
      throw new IllegalStateException(
          "'%s' was a wait before, and is a step now: give it another id".formatted(id));
    }
    if (before.isDone() && !steps.isAskedFor(before)) {
      return decoded(before.checkpoint(), type);
    }
    return switch (steps.loop().run(new CodeStep<>(before, body), budgets)) {
      case StepEnd.Done<T>(var result) -> result;
      case StepEnd.Elsewhere<T>(var wanted) -> throw leave(wanted.action().text());
      case StepEnd.Anew<T>() -> throw leave("hard reset");
    };
  }

  @SuppressWarnings("NullAway") // A step without a result has none to decode.
  private <T extends @Nullable Object> T decoded(@Nullable Json checkpoint, PayloadType<T> type) {
    return checkpoint == null || checkpoint.equals(NOTHING) ? null : codec.decode(checkpoint, type);
  }

  private synchronized StepStatus begin(String id) {
    if (anew != null) {
      throw new LeaveHandlerError(anew);
    }
    StepStatus before = steps.status(id);
    if (!begun.add(id)) {
      throw new IllegalStateException(
          "step '%s' has been run in this attempt: each step needs an id of its own".formatted(id));
    }
    return before;
  }

  /** Whether the handler is to be called again; checked when it has ended, however it did. */
  synchronized boolean beginsAgain() {
    boolean wanted = anew != null;
    anew = null;
    begun.clear();
    return wanted;
  }

  private synchronized LeaveHandlerError leave(String why) {
    anew = why;
    steps.load();
    return new LeaveHandlerError(why);
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
      return new Saved(json, null, Left.NOTHING);
    }
  }
}
