package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.Step;
import dev.holdfast.worker.steps.StepEnd;
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
  private @Nullable String callAgain;

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
      return decoded(before, type);
    }
    return switch (steps.loop().run(new CodeStep<>(before, isNothing(type), body), budgets)) {
      case StepEnd.Done<T>(var result) -> result;
      case StepEnd.Elsewhere<T>(var wanted) -> throw leave(wanted.action().text());
      case StepEnd.CallAgain<T>() -> throw leave("hard reset");
    };
  }

  /** A result that is null is JSON; a step without a result leaves none. */
  @SuppressWarnings("NullAway") // Null was what the step has returned.
  private <T extends @Nullable Object> T decoded(StepStatus done, PayloadType<T> type) {
    Json checkpoint = done.checkpoint();
    if (isNothing(type) || NOTHING.equals(checkpoint)) {
      return null;
    }
    String what = "the result of step '" + done.id() + "'";
    if (checkpoint == null) {
      throw Kept.doesNotFit(
          what, "it was done when it had no result; give it another id to do it again");
    }
    return Kept.as(type, checkpoint, codec, what);
  }

  private static boolean isNothing(PayloadType<?> type) {
    return type.type() == Void.class;
  }

  private synchronized StepStatus begin(String id) {
    if (callAgain != null) {
      throw new LeaveHandlerError(callAgain);
    }
    return steps.ask(id);
  }

  /** Whether the handler, which has ended, is to be called again; true once for each reset. */
  synchronized boolean takeCallAgain() {
    boolean wanted = callAgain != null;
    callAgain = null;
    return wanted;
  }

  private synchronized LeaveHandlerError leave(String why) {
    callAgain = why;
    steps.load();
    return new LeaveHandlerError(why);
  }

  private final class CodeStep<T extends @Nullable Object> implements Step<T> {
    private final StepStatus before;
    private final boolean withoutResult;
    private final Callable<T> body;

    CodeStep(StepStatus before, boolean withoutResult, Callable<T> body) {
      this.before = before;
      this.withoutResult = withoutResult;
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
    public int attemptsBefore() {
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
      if (withoutResult) {
        return new Saved(null, null, Left.NOTHING);
      }
      Json json = result == null ? NOTHING : Limits.result(codec.encode(result));
      return new Saved(json, null, Left.NOTHING);
    }
  }
}
