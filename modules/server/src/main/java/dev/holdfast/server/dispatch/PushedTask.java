package dev.holdfast.server.dispatch;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.model.attempt.Delivery;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.DispatchTrouble;
import dev.holdfast.model.value.Jitter;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.server.lease.Envelopes;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings one leased task to the worker of its queue.
 *
 * <p>It is delivered when the worker has said so: by an answer of 2xx, or by a callback that was
 * acknowledged, at whatever server. From then on it is held like any other task, and only its
 * lease, its deadline and a cancel can end it. A worker that works while the request is open keeps
 * it open: ours to close is only a request that nobody was heard of.
 */
final class PushedTask {
  private static final Logger log = LoggerFactory.getLogger(PushedTask.class);
  private static final int TRIES = 3;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration GIVEN_BACK_FOR = Duration.ofSeconds(5);
  private static final Duration LONGEST_AWAY = Duration.ofMinutes(1);

  /**
   * What all pushes share.
   *
   * @param answerWithin how long an answer is waited for
   * @param lease how long a task is held before somebody must be heard of
   */
  record Means(
      JobQueue queue,
      Envelopes envelopes,
      DispatchClient client,
      DispatchNews news,
      Duration answerWithin,
      Duration lease,
      BooleanSupplier closed) {}

  private final Means with;
  private final Dispatch dispatch;
  private final CircuitBreaker breaker;
  private final LeasedJob job;
  private final long claimedAt = System.nanoTime();

  PushedTask(Means with, Dispatch dispatch, CircuitBreaker breaker, LeasedJob job) {
    this.with = with;
    this.dispatch = dispatch;
    this.breaker = breaker;
    this.job = job;
  }

  void run() {
    try {
      deliver();
    } catch (InterruptedException interrupted) {
      breaker.undecided();
      Thread.currentThread().interrupt();
    } catch (RuntimeException trouble) {
      // Most likely the database is away; should nobody have the task, its lease will run out.
      breaker.undecided();
      if (!with.closed().getAsBoolean()) {
        log.info(
            "the push of {} was not brought to its end: {}", job.lease(), trouble.getMessage());
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
          with.client().post(dispatch, body, envelope.traceparent(), secrets);
      DispatchReply reply = exchange.await(with.answerWithin());
      if (reply instanceof DispatchReply.Answered answer && answer.isTaken()) {
        delivered();
        return;
      }
      Delivery delivery = with.queue().delivery(job.lease());
      if (delivery != Delivery.UNHEARD) {
        heardOf(delivery);
        linger(exchange);
        return;
      }
      exchange.abandon();
      if (reply instanceof DispatchReply.Answered answer && answer.isRefusal()) {
        refused(answer);
        return;
      }
      if (tries == TRIES || with.closed().getAsBoolean() || !isTimeFor(pause)) {
        giveBack(reply);
        return;
      }
      Thread.sleep(Jitter.aroundHalf(pause));
      pause = pause.multipliedBy(4);
    }
  }

  /** Whether another try would be over before the lease is. */
  private boolean isTimeFor(Duration pause) {
    Duration gone = Duration.ofNanos(System.nanoTime() - claimedAt);
    return gone.plus(pause.multipliedBy(2)).plus(with.answerWithin()).compareTo(with.lease()) < 0;
  }

  private void delivered() {
    breaker.succeeded();
    with.news().works(dispatch.queue());
  }

  private void heardOf(Delivery delivery) {
    if (delivery == Delivery.HEARD) {
      delivered();
    } else {
      breaker.undecided();
    }
  }

  /** For as long as the attempt lasts: some workers are stopped when their caller hangs up. */
  private void linger(DispatchClient.Exchange exchange) throws InterruptedException {
    while (exchange.await(with.lease()) instanceof DispatchReply.Pending) {
      if (with.queue().delivery(job.lease()) == Delivery.ENDED) {
        exchange.abandon();
        return;
      }
    }
  }

  private void refused(DispatchReply.Answered answer) {
    FailureCategory category =
        answer.isSecretRefused() ? FailureCategory.CONFIGURATION : FailureCategory.DATA_QUALITY;
    Failure failure =
        Failure.of(
                category,
                Failure.DISPATCH_REFUSED,
                "the worker this queue is pushed to refused the task with " + answer.shown())
            .withRetryable(false);
    if (answer.isSecretRefused()) {
      breaker.failed(job.id());
      trouble(DispatchTrouble.Kind.SECRET_REFUSED, cause(answer));
    } else {
      // Whoever refuses one task may well take the next.
      breaker.undecided();
    }
    if (with.queue().undelivered(job.lease(), failure, Duration.ZERO)) {
      // Not what was said with it: a worker may repeat the payload there.
      log.warn(
          "task {} was refused by {} with status {}",
          job.id(),
          dispatch.url().getAuthority(),
          answer.status());
    }
  }

  private void giveBack(DispatchReply reply) {
    Failure failure =
        Failure.of(
            FailureCategory.INFRASTRUCTURE,
            Failure.DISPATCH_FAILED,
            "the task could not be pushed to its worker: " + reply.shown());
    if (!with.queue().undelivered(job.lease(), failure, Jitter.aroundHalf(away()))) {
      heardOf(with.queue().delivery(job.lease()));
      return;
    }
    if (with.closed().getAsBoolean()) {
      return;
    }
    breaker.failed(job.id());
    DispatchTrouble.Kind kind =
        reply instanceof DispatchReply.Answered
            ? DispatchTrouble.Kind.FAILING
            : DispatchTrouble.Kind.UNREACHABLE;
    trouble(kind, cause(reply));
    log.warn(
        "task {} could not be pushed to {} ({}): it goes back to queue {}",
        job.id(),
        dispatch.url().getAuthority(),
        cause(reply),
        dispatch.queue());
  }

  /** Without what a worker said with its answer, which is for those who may see the task. */
  private static String cause(DispatchReply reply) {
    return reply instanceof DispatchReply.Answered answer
        ? "status " + answer.status()
        : reply.shown();
  }

  private void trouble(DispatchTrouble.Kind kind, String cause) {
    with.news().trouble(dispatch.queue(), kind, cause, breaker.isOpen());
  }

  /** Twice as long each time, so that a task nobody takes leaves room for the others. */
  private Duration away() {
    Duration away = GIVEN_BACK_FOR.multipliedBy(1L << Math.min(job.lease().attempt() - 1, 10));
    return away.compareTo(LONGEST_AWAY) < 0 ? away : LONGEST_AWAY;
  }
}
