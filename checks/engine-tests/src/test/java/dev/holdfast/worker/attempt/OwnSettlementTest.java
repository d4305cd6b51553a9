package dev.holdfast.worker.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import org.junit.jupiter.api.Test;

/** Attempts that are settled in the handler's own transaction. */
class OwnSettlementTest extends AttemptExecutorFixture {
  @Test
  void an_attempt_that_settled_itself_is_not_settled_again() {
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  context.settlingInTransaction();
                  source.succeeded.add(context.lease());
                  return "ignored";
                }));
    assertThat(end.settlement()).isEqualTo(new Settlement.Succeed(job.lease(), null));
    assertThat(end.ack()).isEqualTo(Ack.ACCEPTED);
    assertThat(source.calls("settle")).isZero();
  }

  @Test
  void a_commit_whose_response_was_lost_is_recognised() {
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  context.settlingInTransaction();
                  source.succeeded.add(context.lease());
                  throw new IllegalStateException("connection reset");
                }));
    assertThat(end.ack()).isEqualTo(Ack.ACCEPTED);
    assertThat(source.calls("settle")).isZero();
  }

  @Test
  void a_transaction_that_was_not_committed_fails_the_attempt() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.settlingInTransaction();
              return null;
            });
    assertThat(failure.message()).contains("did not commit");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void when_the_commit_cannot_be_queried_the_failure_is_settled_under_the_fence() {
    source.before =
        verb -> {
          if (verb.equals("succeeded")) {
            throw new IllegalStateException("permission denied");
          }
        };
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.settlingInTransaction();
              throw new IllegalArgumentException("its own");
            });
    assertThat(failure.message()).contains("its own");
  }

  @Test
  void when_nothing_can_be_written_the_attempt_still_ends() {
    host.outbox.close();
    TestHost.End end = end(host.run(job, (payload, context) -> "done"));
    assertThat(end.settlement()).isNull();
    assertThat(end.ack()).isEqualTo(Ack.LEASE_LOST);
  }
}
