package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.UnknownKind;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls the handler of one attempt; the answer says how it ended. */
final class HandlerCall {
  private static final Logger log = LoggerFactory.getLogger(HandlerCall.class);

  private final AttemptExecutor attempt;
  private final AttemptContext context;
  private final AttemptServices services;
  private final HandlerThread thread;

  HandlerCall(AttemptExecutor attempt) {
    this.attempt = attempt;
    this.context = attempt.context;
    this.services = attempt.services;
    this.thread = attempt.thread;
  }

  private LeasedJob job() {
    return attempt.job;
  }

  private Lease lease() {
    return attempt.lease();
  }

  Outcome outcome() {
    Outcome outcome = ended();
    // Whatever the handler did when it was left.
    Json next = context.waits().next();
    return context.waits().isSuspended()
        ? new Outcome.Suspended()
        : next != null ? new Outcome.Continued(next) : outcome;
  }

  private Outcome ended() {
    try {
      return attempt.kind == null ? withoutHandler() : handled(attempt.kind);
    } catch (Throwable thrown) {
      // Whatever a handler throws, even an Error, fails its own job and no other.
      thread.leave();
      return thrown(thrown);
    } finally {
      thread.leave();
    }
  }

  /**
   * A job of a version that this worker does not have comes only from a source that passes over
   * versions. Whoever has begun it knows the kind, so it is not failed.
   */
  private Outcome withoutHandler() {
    String noHandler =
        job().version() == 0
            ? "no handler for kind '%s' on ".formatted(job().kind())
            : "no version %d of kind '%s' on ".formatted(job().version(), job().kind());
    Duration patience = services.options().unknownKinds();
    if (job().version() > 0
        || (patience.isPositive()
            && services.source().ask(it -> it.mayHaveHandler(job(), patience)))) {
      log.info("{} {} is left for a worker that has a handler for it", job().kind(), lease());
      context.event("kind:unknown", Map.of("message", noHandler + "this worker: left for others"));
      return new Outcome.Snoozed(UnknownKind.delay(lease().attempt()));
    }
    return Outcome.failed(
        FailureCategory.CONFIGURATION, Failure.NO_HANDLER, noHandler + "any live worker");
  }

  private <T> Outcome handled(Kind<T> kind) throws Exception {
    thread.enter(attempt.stop);
    Optional<Publisher.Finished> finished = finishedBefore(kind);
    if (finished.isPresent()) {
      log.info(
          "{} {} succeeds without running again: its artifacts are complete",
          job().kind(),
          lease());
      return new Outcome.Succeeded(resultOf(finished.get()));
    }
    T payload;
    try {
      payload = services.codec().decode(job().payload(), kind.payload());
    } catch (RefusedException mismatch) {
      return Outcome.failed(
          FailureCategory.DATA_QUALITY, Failure.VALIDATION, String.valueOf(mismatch.getMessage()));
    }
    // From now on the time is the handler's.
    services.watchdog().watch(attempt);
    context.checkCancelled();
    Object result = called(kind.handler(), payload);
    if (context.reports().isSettling()) {
      thread.leave();
      return settledItself();
    }
    Outcome succeeded = new Outcome.Succeeded(result == null ? null : encoded(result));
    tellUnused();
    return succeeded;
  }

  /** What is done counts, whether or not the timeline can be told what was passed over. */
  private void tellUnused() {
    try {
      context.tellUnused();
    } catch (RuntimeException notTold) {
      log.info("{}: steps that were not asked for could not be reported", lease(), notTold);
    }
  }

  private Optional<Publisher.Finished> finishedBefore(Kind<?> kind) {
    return kind.artifacts().isEmpty() || context.steps().isSentBack()
        ? Optional.empty()
        : context
            .files()
            .finished(
                kind.artifacts(), name -> context.event("artifact:damaged", Map.of("name", name)));
  }

  /** From its first line, and again from there after a hard reset of one of its steps. */
  private <T> @Nullable Object called(Handler<T> handler, T payload) throws Exception {
    while (true) {
      try {
        Object result = handler.handle(payload, context);
        if (!context.takeCallAgain()) {
          return result;
        }
      } catch (Throwable thrown) {
        if (!context.takeCallAgain()) {
          throw thrown;
        }
      }
      log.info("{} {} starts again from its first line after a hard reset", job().kind(), lease());
    }
  }

  private Outcome settledItself() {
    return services.hasSucceeded(lease())
        ? new Outcome.SettledItself()
        : Outcome.failed(
            FailureCategory.USER_CODE,
            Failure.HANDLER_FAILED,
            "the handler settled in a transaction that it did not commit");
  }

  private Json resultOf(Publisher.Finished finished) {
    return finished.result() == null
        ? encoded(Map.of("artifacts", finished.artifacts()))
        : finished.result();
  }

  private Json encoded(Object result) {
    try {
      return Limits.result(services.codec().encode(result));
    } catch (RefusedException refused) {
      // A codec does not know what the value is for.
      throw refused.refusal() == Refusal.PAYLOAD_NOT_JSON
          ? new RefusedException(Refusal.RESULT_NOT_JSON, String.valueOf(refused.getMessage()))
          : refused;
    }
  }

  private Outcome thrown(Throwable thrown) {
    try {
      // A commit whose answer was lost throws, and has settled the job all the same.
      if (context.reports().isSettling() && services.hasSucceeded(lease())) {
        return new Outcome.SettledItself();
      }
    } catch (RuntimeException unknown) {
      // The fence decides: this failure matches no row if the transaction has committed.
      log.warn(
          "{}: could not check whether the handler's transaction settled the job",
          lease(),
          unknown);
    }
    return Outcome.thrown(thrown);
  }
}
