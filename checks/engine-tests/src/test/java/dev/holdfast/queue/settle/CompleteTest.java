package dev.holdfast.queue.settle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.Completion.Verdict;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Completions over HTTP, and snapshots of job states. */
class CompleteTest extends QueueFixture {
  private static Completion completion(Settlement settlement, String outcome, String digest) {
    return new Completion(
        settlement,
        outcome,
        digest,
        WORKER,
        Instant.parse("2025-01-15T10:30:00Z"),
        new Json("{\"cpuTimeMs\": 45}"),
        new Json("{\"rows\": 7}"),
        "processing");
  }

  private static Completion succeeded(Lease lease, String digest) {
    return completion(succeed(lease), "SUCCEEDED", digest);
  }

  @Test
  void an_equal_second_completion_is_accepted_and_another_is_reported_as_different() {
    Lease lease = running();
    Verdict accepted = new Verdict.Accepted(JobState.SUCCEEDED);
    assertThat(queue.complete(succeeded(lease, "d"))).isEqualTo(accepted);
    assertThat(queue.complete(succeeded(lease, "d"))).isEqualTo(accepted);
    assertThat(queue.complete(succeeded(lease, "other"))).isEqualTo(new Verdict.Different());
    assertThat(events(lease.job())).containsExactly("created", "processing", "done");
  }

  @Test
  void a_failure_without_a_retry_delay_waits_by_the_number_of_failures() {
    Lease lease = running();
    for (int i = 0; i < 5; i++) {
      queue.settle(new Settlement.Release(lease, false));
      lease = claimOne();
    }
    Settlement failed = new Settlement.Fail(lease, FLAKY, null);
    assertThat(queue.complete(completion(failed, "FAILED", "d")))
        .isEqualTo(new Verdict.Accepted(JobState.RETRYING));
    Instant ended = Objects.requireNonNull(queries.attempts(lease.job()).getLast().endedAt());
    assertThat(Duration.between(ended, status(lease.job()).runAt()))
        .isLessThanOrEqualTo(RetryPolicy.DEFAULT.ceiling(1));
  }

  @Test
  void a_repeated_completion_gets_its_first_answer_while_the_next_attempt_runs() {
    Lease lease = running();
    Completion failed = completion(fail(lease, FLAKY), "FAILED", "d");
    assertThat(queue.complete(failed)).isEqualTo(new Verdict.Accepted(JobState.RETRYING));
    maintenance.promote();
    assertThat(claimOne().attempt()).isEqualTo(2);
    assertThat(queue.complete(failed)).isEqualTo(new Verdict.Accepted(JobState.RETRYING));
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_completion_without_the_lease_is_late() {
    Lease lease = running();
    expire(lease);
    maintenance.reap(Duration.ZERO);
    assertThat(queue.complete(succeeded(lease, "d"))).isEqualTo(new Verdict.Late());
    assertThat(queries.reportedCompletions(lease.job())).isEmpty();
    assertThat(queue.complete(succeeded(new Lease(JobId.next(), 1), "d")))
        .isEqualTo(new Verdict.Late());
  }

  @Test
  void concurrent_equal_completions_are_all_accepted_and_count_once() {
    Lease lease = running();
    JobQueue other = another().jobs();
    List<Verdict> verdicts =
        Parallel.run(8, i -> () -> (i % 2 == 0 ? queue : other).complete(succeeded(lease, "d")));
    assertThat(verdicts).containsOnly(new Verdict.Accepted(JobState.SUCCEEDED));
    assertThat(queries.reportedCompletions(lease.job())).hasSize(1);
  }

  @Test
  void the_completion_a_worker_reported_is_stored() {
    Lease lease = running();
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    Settlement cancel = new Settlement.Cancel(lease, new Json("{\"rows\": 7}"));
    assertThat(queue.complete(completion(cancel, "CANCELLED", "d")))
        .isEqualTo(new Verdict.Accepted(JobState.CANCELLED));
    ReportedCompletion told = queries.reportedCompletions(lease.job()).getFirst();
    assertThat(told.attempt()).isEqualTo(1);
    assertThat(told.completedAt()).isEqualTo(Instant.parse("2025-01-15T10:30:00Z"));
    assertThat(told.receivedAt()).isAfter(Instant.parse("2025-01-15T10:30:00Z"));
    assertThat(told.metrics()).isEqualTo(new Json("{\"cpuTimeMs\": 45}"));
    assertThat(told.partialProgress()).isEqualTo(new Json("{\"rows\": 7}"));
    assertThat(told.cancelledDuringPhase()).isEqualTo("processing");
  }

  @Test
  void snapshots_have_the_state_of_each_known_job() {
    Lease failed = addAndClaim(job().owner("acme", "w").maxAttempts(1));
    queue.settle(fail(failed, HOPELESS));
    Lease running = running();
    assertThat(queries.states(List.of(failed.job(), running.job(), JobId.next())))
        .containsExactlyInAnyOrder(
            new JobStateSnapshot(failed.job(), "acme", JobState.FAILED, 1, "BAD_ROW"),
            new JobStateSnapshot(running.job(), "default", JobState.RUNNING, 1, null));
    assertThat(queries.states(List.of())).isEmpty();
  }
}
