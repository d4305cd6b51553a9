package dev.holdfast.queue.settle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Delivery;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Attempts that were pushed to a worker: taken back only while nobody was heard of. */
class UndeliveredTest extends QueueFixture {
  @Test
  void an_attempt_of_which_nobody_was_heard_goes_back_with_its_cause_and_without_cost() {
    Lease lease = running();
    assertThat(queue.delivery(lease)).isEqualTo(Delivery.UNHEARD);
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
  void an_attempt_whose_worker_was_heard_of_stays() {
    Lease lease = running();
    queue.heartbeat(List.of(lease), LEASE);
    assertThat(queue.delivery(lease)).isEqualTo(Delivery.HEARD);
    assertThat(queue.undelivered(lease, FLAKY, Duration.ZERO)).isFalse();
    assertThat(queue.undelivered(lease, HOPELESS, Duration.ZERO)).isFalse();
    assertThat(queries.find(lease.job()).orElseThrow().state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_start_and_a_giving_back_at_once_never_both_win() throws InterruptedException {
    for (int round = 0; round < 50; round++) {
      Lease lease = running();
      AtomicBoolean givenBack = new AtomicBoolean();
      Thread other =
          Thread.ofVirtual()
              .start(() -> givenBack.set(queue.undelivered(lease, FLAKY, Duration.ofHours(1))));
      HeartbeatResult result = queue.heartbeat(List.of(lease), LEASE).getFirst();
      while (result.busy()) {
        // It was held a moment ago, and is being given back perhaps: that is no answer yet.
        result = queue.heartbeat(List.of(lease), LEASE).getFirst();
      }
      boolean heard = result.ack() == Ack.ACCEPTED;
      other.join();
      JobState state = queries.find(lease.job()).orElseThrow().state();
      assertThat(state).isEqualTo(givenBack.get() ? JobState.PENDING : JobState.RUNNING);
      // A beat just before is heard, one just after is told; neither is lost without a word.
      assertThat(heard).isNotEqualTo(givenBack.get());
      queue.settle(succeed(lease));
    }
  }

  @Test
  void who_ran_an_attempt_is_known_while_it_runs_and_after() {
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
