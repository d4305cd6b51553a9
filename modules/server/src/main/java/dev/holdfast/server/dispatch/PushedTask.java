package dev.holdfast.server.dispatch;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.Dispatch.Delivery;
import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.value.Jitter;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.server.worker.Envelopes;
import dev.holdfast.server.worker.RemoteAttempts;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pushes one leased task to the worker of its queue.
 *
 * <p>The task is delivered once the worker answers 2xx, or has sent a callback that any server
 * accepted. From then on it is held like any other task, and only its lease, its deadline and a
 * cancel can end it. A worker may work while the request is open: the server closes a request only
 * if no callback has come.
 */
final class PushedTask {
  private static final Logger log = LoggerFactory.getLogger(PushedTask.class);
  private static final int TRIES = 3;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration FIRST_DELAY = Duration.ofSeconds(5);
  private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);

  /**
   * What all pushes use.
   *
   * @param attempts counts them
   * @param started how many tasks of a queue its worker has started, and runs
   * @param answerWithin how long an answer is waited for
   * @param lease how long a task is held without a heartbeat
   */
  record Services(
      JobQueue queue,
      RemoteAttempts attempts,
      ToLongFunction<String> started,
      Envelopes envelopes,
      DispatchClient client,
      DispatchStatusWriter status,
      Duration answerWithin,
      Duration lease,
      BooleanSupplier closed) {}

  private final Services with;
  private final Dispatch dispatch;
  private final CircuitBreaker breaker;
  private final WorkerCapacity capacity;
  private final LeasedJob job;
  private final long claimedAt = System.nanoTime();

  PushedTask(
      Services with,
      Dispatch dispatch,
      CircuitBreaker breaker,
      WorkerCapacity capacity,
      LeasedJob job) {
    this.with = with;
    this.dispatch = dispatch;
    this.breaker = breaker;
    this.capacity = capacity;
    this.job = job;
  }

  void run() {
    try {
      deliver();
    } catch (InterruptedException interrupted) {
      undecided();
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      // Most likely the database cannot be reached. If no worker has the task, its lease runs out.
      undecided();
      if (!with.closed().getAsBoolean()) {
        log.info("the push of {} was not completed: {}", job.lease(), e.getMessage());
      }
    }
  }

  private void deliver() throws InterruptedException {
    TaskEnvelope envelope = with.envelopes().of(job);
    byte[] body = Wire.write(envelope);
    List<String> secrets = List.of(dispatch.secret(), envelope.taskToken());
    Duration pause = FIRST_PAUSE;
    for (int tries = 1; ; tries++) {
      DispatchClient.Exchange exchange =
          with.client().post(dispatch.url(), body, headers(envelope), secrets);
      DispatchReply reply = exchange.await(with.answerWithin());
      if (reply instanceof DispatchReply.Answered answer && answer.isTaken()) {
        delivered();
        return;
      }
      Delivery delivery = with.queue().delivery(job.lease());
      if (delivery != Delivery.UNCONFIRMED) {
        record(delivery);
        linger(exchange);
        return;
      }
      exchange.abandon();
      if (reply instanceof DispatchReply.Answered answer && answer.isRefusal()) {
        refused(answer);
        return;
      }
      if (reply instanceof DispatchReply.Answered answer
          && answer.isBusy()
          && keptForLater(answer)) {
        return;
      }
      if (tries == TRIES || with.closed().getAsBoolean() || !isTimeFor(pause)) {
        requeue(reply);
        return;
      }
      Thread.sleep(Jitter.aroundHalf(pause));
      pause = pause.multipliedBy(4);
    }
  }

  private Map<String, String> headers(TaskEnvelope envelope) {
    Map<String, String> headers = new HashMap<>();
    headers.put("Authorization", "Bearer " + dispatch.secret());
    String traceparent = envelope.traceparent();
    if (traceparent != null) {
      headers.put("traceparent", traceparent);
    }
    return headers;
  }

  /** Whether another try would end before the lease does. */
  private boolean isTimeFor(Duration pause) {
    Duration elapsed = Duration.ofNanos(System.nanoTime() - claimedAt);
    return elapsed.plus(pause.multipliedBy(2)).plus(with.answerWithin()).compareTo(with.lease())
        < 0;
  }

  /**
   * A worker that runs other tasks of the queue is busy, and has room when one of them ends. The
   * task keeps its place until then. Nothing is wrong with such a worker.
   */
  private boolean keptForLater(DispatchReply.Answered answer) {
    long running = with.started().applyAsLong(dispatch.queue());
    if (running == 0) {
      return false;
    }
    // Before the task can be claimed again.
    capacity.refused(running);
    breaker.undecided();
    if (!with.queue().undelivered(job.lease(), notPushed(answer), Duration.ZERO)) {
      record(with.queue().delivery(job.lease()));
    }
    log.debug("{} is busy with {} tasks", dispatch.url().getAuthority(), running);
    return true;
  }

  private static Failure notPushed(DispatchReply reply) {
    return Failure.of(
        FailureCategory.INFRASTRUCTURE,
        Failure.DISPATCH_FAILED,
        "the task could not be pushed to its worker: " + reply.shown());
  }

  private void undecided() {
    breaker.undecided();
    capacity.undecided();
  }

  private void delivered() {
    capacity.taken();
    breaker.succeeded();
    with.status().works(dispatch.queue());
  }

  private void record(Delivery delivery) {
    if (delivery == Delivery.CONFIRMED) {
      delivered();
    } else {
      undecided();
    }
  }

  /**
   * Keeps the request open while the attempt lasts: some platforms stop a worker otherwise. An
   * error that the worker answers ends the attempt; nobody would send its heartbeats.
   */
  private void linger(DispatchClient.Exchange exchange) throws InterruptedException {
    DispatchReply reply = exchange.await(with.lease());
    while (reply instanceof DispatchReply.Pending) {
      if (with.queue().delivery(job.lease()) == Delivery.ENDED) {
        exchange.abandon();
        return;
      }
      reply = exchange.await(with.lease());
    }
    if (reply instanceof DispatchReply.Answered answer
        && (answer.isRefusal() || answer.isFailure())) {
      failed(answer);
    }
  }

  private void failed(DispatchReply.Answered answer) {
    Failure failure =
        answer.isRefusal()
            ? refusal(answer)
            : Failure.of(
                FailureCategory.INFRASTRUCTURE,
                Failure.DISPATCH_FAILED,
                "the worker started the task, and answered the push with " + answer.shown());
    Settlement.Fail end = new Settlement.Fail(job.lease(), failure, null);
    if (with.queue().settle(end) == Ack.ACCEPTED) {
      boolean again = failure.retryable() && job.failures() + 1 < job.maxAttempts();
      with.attempts().ended(List.of(new RemoteAttempts.End(end, again)));
      log.warn(
          "task {} failed: {} had started it, and answered with status {}",
          job.id(),
          dispatch.url().getAuthority(),
          answer.status());
    }
  }

  private static Failure refusal(DispatchReply.Answered answer) {
    FailureCategory category =
        answer.isSecretRefused() ? FailureCategory.CONFIGURATION : FailureCategory.DATA_QUALITY;
    return Failure.of(
            category,
            Failure.DISPATCH_REFUSED,
            "the worker this queue is pushed to refused the task with " + answer.shown())
        .withRetryable(false);
  }

  private void refused(DispatchReply.Answered answer) {
    if (answer.isSecretRefused()) {
      breaker.failed(job.id());
      recordError(DispatchError.Kind.SECRET_REFUSED, cause(answer));
    } else {
      // A worker that refuses one task may accept the next.
      breaker.undecided();
    }
    capacity.undecided();
    if (with.queue().undelivered(job.lease(), refusal(answer), Duration.ZERO)) {
      // Without the body of the answer, which may repeat the payload.
      log.warn(
          "task {} was refused by {} with status {}",
          job.id(),
          dispatch.url().getAuthority(),
          answer.status());
    }
  }

  private void requeue(DispatchReply reply) {
    capacity.undecided();
    if (!with.queue().undelivered(job.lease(), notPushed(reply), Jitter.aroundHalf(retryDelay()))) {
      record(with.queue().delivery(job.lease()));
      return;
    }
    if (with.closed().getAsBoolean()) {
      return;
    }
    breaker.failed(job.id());
    DispatchError.Kind kind =
        reply instanceof DispatchReply.Answered
            ? DispatchError.Kind.FAILING
            : DispatchError.Kind.UNREACHABLE;
    recordError(kind, cause(reply));
    log.warn(
        "task {} could not be pushed to {} ({}): requeued in {}",
        job.id(),
        dispatch.url().getAuthority(),
        cause(reply),
        dispatch.queue());
  }

  /** Without the body of the answer, which only those who may see the task may read. */
  private static String cause(DispatchReply reply) {
    return reply instanceof DispatchReply.Answered answer
        ? "status " + answer.status()
        : reply.shown();
  }

  private void recordError(DispatchError.Kind kind, String cause) {
    with.status().recordError(dispatch.queue(), kind, cause, breaker.isOpen());
  }

  /** Doubles with each attempt, so that a task that cannot be delivered does not block others. */
  private Duration retryDelay() {
    Duration delay = FIRST_DELAY.multipliedBy(1L << Math.min(job.lease().attempt() - 1, 10));
    return delay.compareTo(LONGEST_DELAY) < 0 ? delay : LONGEST_DELAY;
  }
}
