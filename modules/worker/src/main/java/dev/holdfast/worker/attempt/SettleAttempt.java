package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the settlement of one attempt, and passes on the answer once it is durable. */
final class SettleAttempt {
  private static final Logger log = LoggerFactory.getLogger(SettleAttempt.class);

  /** Called once. */
  @FunctionalInterface
  interface Answer {
    /**
     * @param settlement null when nothing was settled
     */
    void answered(@Nullable Settlement settlement, Ack ack);
  }

  private final Lease lease;
  private final Outbox outbox;
  private final BooleanSupplier inTransaction;
  private final Answer answer;

  /**
   * @param inTransaction whether the handler's own transaction may hold the job's row locked
   */
  SettleAttempt(Lease lease, Outbox outbox, BooleanSupplier inTransaction, Answer answer) {
    this.lease = lease;
    this.outbox = outbox;
    this.inTransaction = inTransaction;
    this.answer = answer;
  }

  void write(Settlement settlement) {
    CompletableFuture<?> unused =
        (inTransaction.getAsBoolean() ? outbox.settleApart(settlement) : outbox.settle(settlement))
            .whenComplete((ack, error) -> answered(settlement, ack, error));
  }

  private void answered(Settlement settlement, Ack ack, @Nullable Throwable error) {
    if (error == null) {
      answer.answered(settlement, ack);
    } else if (error instanceof RefusedException refused
        && !(settlement instanceof Settlement.Fail)) {
      write(new Settlement.Fail(lease, Outcome.notStorable(refused), Duration.ZERO));
    } else {
      failed(error);
    }
  }

  void failed(Throwable error) {
    if (error instanceof Outbox.StoppedException) {
      log.warn("{} could not be settled before the worker stopped", lease);
    } else {
      log.error("{} could not be settled; its lease will run out", lease, error);
    }
    answer.answered(null, Ack.LEASE_LOST);
  }
}
