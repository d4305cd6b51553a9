package dev.holdfast.queue.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Cancellation.Outcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CancelTest extends QueueFixture {
  private List<Cancellation> cancel(JobId job) {
    return queue.cancel(List.of(job), false, "not needed", Tenant.ANY);
  }

  @ParameterizedTest
  @EnumSource(names = {"WAITING", "PENDING", "RETRYING"})
  void a_job_that_is_not_running_is_cancelled_at_once(JobState state) {
    Lease lease = running();
    queue.settle(new Settlement.Fail(lease, FLAKY, Duration.ofHours(1)));
    set(lease.job(), "state = '" + state + "'");

    assertThat(cancel(lease.job()))
        .containsExactly(new Cancellation(lease.job(), state, Outcome.CANCELLED));

    JobStatus status = status(lease.job());
    assertThat(status.state()).isEqualTo(JobState.CANCELLED);
    assertThat(status.cancelReason()).isEqualTo("not needed");
    assertThat(status.finishedAt()).isNotNull();
    assertThat(queries.timeline(lease.job()).getLast().type()).isEqualTo("cancelled");
    assertThat(queries.timeline(lease.job()).getLast().data().text()).contains("not needed");
    assertThat(claim(1)).isEmpty();
  }

  @Test
  void a_running_job_gets_a_cancel_request_with_its_grace_period() {
    Lease lease = running();
    assertThat(cancel(lease.job()))
        .containsExactly(new Cancellation(lease.job(), JobState.RUNNING, Outcome.REQUESTED));
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
    assertThat(
            db.count(
                "SELECT extract(epoch FROM cancel_deadline - cancel_requested_at)"
                    + " FROM holdfast.job"))
        .isEqualTo(GRACE.toSeconds());
    assertThat(queries.timeline(lease.job()).getLast().type()).isEqualTo("cancel:requested");

    assertThat(queue.settle(new Settlement.Cancel(lease, new Json("{\"rows\": 7}"))))
        .isEqualTo(Ack.ACCEPTED);

    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(status(lease.job()).cancelReason()).isEqualTo("not needed");
    assertThat(queries.timeline(lease.job()).getLast().data()).isEqualTo(new Json("{\"rows\": 7}"));
  }

  @Test
  void a_second_cancel_request_changes_nothing_and_returns_that() {
    Lease lease = running();
    cancel(lease.job());
    String before = row(lease.job());
    assertThat(queue.cancel(List.of(lease.job()), true, "again", Tenant.ANY))
        .containsExactly(
            new Cancellation(lease.job(), JobState.RUNNING, Outcome.ALREADY_REQUESTED));
    assertThat(row(lease.job())).isEqualTo(before);
  }

  @Test
  void a_job_that_has_ended_cannot_be_cancelled() {
    Lease done = running();
    queue.settle(succeed(done));
    Lease failed = running();
    queue.settle(fail(failed, HOPELESS));
    Lease cancelled = running();
    queue.settle(new Settlement.Cancel(cancelled, null));
    for (Lease lease : List.of(done, failed, cancelled)) {
      JobState state = state(lease.job());
      String before = row(lease.job());
      assertThat(cancel(lease.job()))
          .containsExactly(new Cancellation(lease.job(), state, Outcome.ALREADY_TERMINAL));
      assertThat(row(lease.job())).isEqualTo(before);
    }
  }

  @Test
  void cancelling_a_job_that_does_not_exist_returns_nothing() {
    assertThat(cancel(JobId.next())).isEmpty();
  }

  @Test
  void cancelling_with_cascade_cancels_children_and_grandchildren_only() {
    Job parent = job();
    Job running = job().parent(parent.id()).priority(0);
    Job done = job().parent(parent.id()).priority(1);
    Job grandchild = job().parent(running.id());
    Job greatGrandchild = job().parent(grandchild.id()).delay(Duration.ofHours(1));
    Job stranger = job().parent(JobId.next());
    queue.enqueue(List.of(parent, running, done, grandchild, greatGrandchild, stranger));
    assertThat(claimOne().job()).isEqualTo(running.id());
    queue.settle(succeed(claimOne()));

    assertThat(queue.cancel(List.of(parent.id()), true, "all of it", Tenant.ANY))
        .containsExactlyInAnyOrder(
            new Cancellation(parent.id(), JobState.PENDING, Outcome.CANCELLED),
            new Cancellation(running.id(), JobState.RUNNING, Outcome.REQUESTED),
            new Cancellation(done.id(), JobState.SUCCEEDED, Outcome.ALREADY_TERMINAL),
            new Cancellation(grandchild.id(), JobState.PENDING, Outcome.CANCELLED),
            new Cancellation(greatGrandchild.id(), JobState.PENDING, Outcome.CANCELLED));

    assertThat(state(stranger.id())).isEqualTo(JobState.PENDING);
    assertThat(status(greatGrandchild.id()).cancelReason()).isEqualTo("all of it");
  }

  @Test
  void cancelling_without_cascade_does_not_cancel_the_children() {
    Job parent = job();
    Job child = job().parent(parent.id());
    queue.enqueue(List.of(parent, child));
    assertThat(cancel(parent.id())).hasSize(1);
    assertThat(state(child.id())).isEqualTo(JobState.PENDING);
  }

  @Test
  void the_children_of_a_job_that_has_ended_can_still_be_cancelled() {
    Job parent = job();
    Job child = job().parent(parent.id());
    queue.enqueue(List.of(parent, child));
    queue.settle(succeed(claimOne()));
    queue.cancel(List.of(parent.id()), true, "children too", Tenant.ANY);
    assertThat(state(child.id())).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_cascade_over_a_cycle_of_parents_ends() {
    Job one = job();
    Job two = job().parent(one.id());
    queue.enqueue(List.of(one.parent(two.id()), two));
    assertThat(queue.cancel(List.of(one.id()), true, "circle", Tenant.ANY)).hasSize(2);
  }

  @Test
  void a_missing_reason_has_a_default_and_a_long_one_is_refused() {
    JobId silent = add(job());
    queue.cancel(List.of(silent), false, "  ", Tenant.ANY);
    assertThat(status(silent).cancelReason()).isEqualTo("requested");
    JobId long_ = add(job());
    assertRefused(
        Refusal.BAD_REASON,
        () -> queue.cancel(List.of(long_), false, "r".repeat(1_001), Tenant.ANY));
    assertRefused(Refusal.BAD_REASON, () -> queue.cancel(List.of(long_), false, "r\0", Tenant.ANY));
    assertThat(state(long_)).isEqualTo(JobState.PENDING);
    queue.cancel(List.of(long_), false, "r".repeat(1_000), Tenant.ANY);
    assertThat(status(long_).cancelReason()).hasSize(1_000);
  }

  @Test
  void concurrent_cancel_and_succeed_end_in_one_state_that_fits_both_results() {
    List<JobState> ends = new ArrayList<>();
    for (int round = 0; round < 400; round++) {
      boolean started = round % 4 != 0;
      JobId job = add(job());
      Lease lease = started ? claimOne() : new Lease(job, 1);
      List<Object> answers =
          Parallel.run(
              2,
              i ->
                  () ->
                      i == 0
                          ? (Object) cancel(job).getFirst().outcome()
                          : started ? queue.settle(succeed(lease)) : claim(1).size());
      Outcome outcome = (Outcome) answers.get(0);
      JobState state = state(job);
      if (started) {
        // Cancelling a running job is a request; the handler may still succeed, and does here.
        assertThat(answers.get(1)).isEqualTo(Ack.ACCEPTED);
        assertThat(state).isEqualTo(JobState.SUCCEEDED);
        assertThat(outcome).isIn(Outcome.REQUESTED, Outcome.ALREADY_TERMINAL);
        assertThat(events(job).contains("cancel:requested"))
            .isEqualTo(outcome == Outcome.REQUESTED);
      } else {
        boolean claimed = answers.get(1).equals(1);
        assertThat(outcome).isEqualTo(claimed ? Outcome.REQUESTED : Outcome.CANCELLED);
        assertThat(state).isEqualTo(claimed ? JobState.RUNNING : JobState.CANCELLED);
        if (claimed) {
          queue.settle(new Settlement.Cancel(lease, null));
        }
      }
      ends.add(state(job));
    }
    assertThat(ends).hasSize(400).allMatch(JobState::isTerminal);
  }

  @Test
  void concurrent_cancel_acknowledgement_and_grace_expiry_have_one_winner() {
    for (int round = 0; round < 60; round++) {
      Lease lease = running();
      cancel(lease.job());
      set(lease.job(), "cancel_deadline = now() - interval '1 s'");
      List<Boolean> won =
          Parallel.run(
              2,
              i ->
                  () ->
                      i == 0
                          ? queue.settle(new Settlement.Cancel(lease, null)) == Ack.ACCEPTED
                          : maintenance.expire().ended().contains(lease.job()));
      assertThat(won.get(0)).isNotEqualTo(won.get(1));
      assertThat(state(lease.job())).isEqualTo(won.get(0) ? JobState.CANCELLED : JobState.FAILED);
    }
  }
}
