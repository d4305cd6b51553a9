package dev.holdfast.queue.settle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Dispatch.Delivery;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Attempts that were pushed to a worker: requeued only while they are unconfirmed. */
class UndeliveredTest extends QueueFixture {
  @Test
  void an_unconfirmed_attempt_is_snoozed_with_its_failure_and_uses_no_budget() {
    Lease lease = running();
    assertThat(queue.delivery(lease)).isEqualTo(Delivery.UNCONFIRMED);
    assertThat(queue.undelivered(lease, FLAKY, Duration.ofMinutes(1))).isTrue();
    assertThat(queue.delivery(lease)).isEqualTo(Delivery.ENDED);
    JobStatus job = queries.find(lease.job()).orElseThrow();
    assertThat(job.state()).isEqualTo(JobState.PENDING);
    assertThat(job.failures() + job.crashes()).isZero();
    assertThat(job.failure()).isNull();
    Attempt attempt = queries.ended(lease).orElseThrow();
    assertThat(attempt.outcome()).isEqualTo(AttemptOutcome.SNOOZED);
    assertThat(attempt.failure()).isEqualTo(FLAKY);
    assertThat(queries.timeline(lease.job()).getLast().data().text()).contains(FLAKY.message());
  }

  @Test
  void a_confirmed_attempt_keeps_running() {
    Lease lease = running();
    queue.heartbeat(List.of(lease), LEASE);
    assertThat(queue.delivery(lease)).isEqualTo(Delivery.CONFIRMED);
    assertThat(queue.undelivered(lease, FLAKY, Duration.ZERO)).isFalse();
    assertThat(queue.undelivered(lease, HOPELESS, Duration.ZERO)).isFalse();
    assertThat(queries.find(lease.job()).orElseThrow().state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_concurrent_heartbeat_and_undelivered_report_never_both_win() throws InterruptedException {
    for (int round = 0; round < 50; round++) {
      Lease lease = running();
      AtomicBoolean givenBack = new AtomicBoolean();
      Thread other =
          Thread.ofVirtual()
              .start(() -> givenBack.set(queue.undelivered(lease, FLAKY, Duration.ofHours(1))));
      HeartbeatResult result = queue.heartbeat(List.of(lease), LEASE).getFirst();
      while (result.rowLocked()) {
        // The row is locked, perhaps by the undelivered report: that is no final result.
        result = queue.heartbeat(List.of(lease), LEASE).getFirst();
      }
      boolean heard = result.ack() == Ack.ACCEPTED;
      other.join();
      JobState state = queries.find(lease.job()).orElseThrow().state();
      assertThat(state).isEqualTo(givenBack.get() ? JobState.PENDING : JobState.RUNNING);
      // A heartbeat just before is accepted, one just after gets LEASE_LOST.
      assertThat(heard).isNotEqualTo(givenBack.get());
      queue.settle(succeed(lease));
    }
  }

  @Test
  void the_worker_of_an_attempt_is_known_while_it_runs_and_after() {
    Lease first = running();
    assertThat(queries.workerNames(List.of(first, new Lease(first.job(), 2))))
        .containsOnlyKeys(first)
        .containsValue(WORKER);
    queue.undelivered(first, FLAKY, Duration.ZERO);
    Lease second = claimOne();
    queue.settle(succeed(second));
    assertThat(queries.workerNames(List.of(first, second))).containsOnlyKeys(first, second);
  }
}
