package dev.holdfast.queue.settle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Jobs that end, and go on as others. */
class ContinueTest extends QueueFixture {
  private static final Json NEXT = new Json("{\"turn\": 2}");

  private static Settlement next(Lease lease) {
    return new Settlement.Continue(lease, NEXT);
  }

  private JobId continued(Lease lease) {
    assertThat(queue.settle(next(lease))).isEqualTo(Ack.ACCEPTED);
    return JobId.ofSuccessor(lease.job());
  }

  @Test
  void a_job_that_has_gone_on_is_not_sent_back_while_the_next_one_is_there() {
    Lease lease = addAndClaim(job());
    queue.report(List.of(Report.Step.done(lease, "s", 1, 1, NEXT, Duration.ofMillis(1))));
    JobId next = continued(lease);
    JobCommand back = new JobCommand(CommandAction.RESUME_FROM_STEP, "s", "tester", "once more");
    assertThat(queue.command(lease.job(), back, Tenant.ANY).answer())
        .isEqualTo(JobCommand.Answer.CONTINUED);
    queue.cancel(List.of(next), false, "enough", Tenant.ANY);
    queue.delete(next, Tenant.ANY);
    assertThat(queue.command(lease.job(), back, Tenant.ANY).answer())
        .isEqualTo(JobCommand.Answer.ACCEPTED);
  }

  @Test
  void the_next_job_has_all_that_the_job_has_but_its_payload_and_what_has_become_of_it() {
    JobId parent = add(job().queue("elsewhere"));
    Instant deadline = Instant.now().plus(1, ChronoUnit.DAYS).truncatedTo(ChronoUnit.MILLIS);
    Lease lease =
        addAndClaim(
            Job.of("test", new Json("{\"turn\": 1}"))
                .owner("acme", "videos")
                .parent(parent)
                .priority(3)
                .maxAttempts(7)
                .maxCrashes(4)
                .timeout(Duration.ofMinutes(3))
                .deadline(deadline)
                .concurrencyKey("k", 1)
                .tags(List.of("nightly")));
    queue.settle(fail(lease, FLAKY));
    Lease again = claimOne();
    JobStatus before = status(lease.job());
    JobStatus next = status(continued(again));
    assertThat(next.payload()).isEqualTo(NEXT);
    assertThat(next.tenant()).isEqualTo("acme");
    assertThat(next.workspace()).isEqualTo("videos");
    assertThat(next.run()).isEqualTo(before.run());
    assertThat(next.parent()).isEqualTo(parent);
    assertThat(next.priority()).isEqualTo(3);
    assertThat(next.maxAttempts()).isEqualTo(7);
    assertThat(next.maxCrashes()).isEqualTo(4);
    assertThat(next.deadline()).isEqualTo(deadline);
    assertThat(next.runAt()).isEqualTo(before.runAt());
    assertThat(next.failures()).isZero();
    assertThat(next.attempt()).isZero();
    assertThat(next.state()).isEqualTo(JobState.PENDING);
    assertThat(events(next.id())).containsExactly("created");
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.job a JOIN holdfast.job b"
                    + " USING (concurrency_key, concurrency_limit, attributes, timeout_ms)"
                    + " WHERE a.id = ? AND b.id = ?",
                lease.job().value(),
                next.id().value()))
        .isEqualTo(1);

    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(status(lease.job()).result()).isNull();
    assertThat(events(lease.job()))
        .containsExactly(
            "created", "processing", "retry:scheduled", "processing", "continued", "done");
    assertThat(queries.timeline(lease.job()).get(4).data().text()).contains(next.id().toString());
    assertThat(claimOne()).isEqualTo(new Lease(next.id(), 1));
  }

  @Test
  void it_has_the_place_of_the_job_in_the_queue() {
    Lease lease = running();
    add(job());
    JobId next = continued(lease);
    assertThat(claimOne().job()).isEqualTo(next);
  }

  @Test
  void it_has_the_unique_key_also_one_that_was_to_be_held_afterwards() {
    for (Unique unique :
        List.of(Unique.by("only"), Unique.by("ever").in(EnumSet.allOf(JobState.class)))) {
      Lease lease = addAndClaim(job().unique(unique));
      JobId next = continued(lease);
      assertThat(queue.enqueue(job().unique(unique)).id()).isEqualTo(next);
      JobId afterwards = continued(claimOne());
      assertThat(queue.enqueue(job().unique(unique)).id()).isEqualTo(afterwards);
      queue.settle(succeed(claimOne()));
    }
  }

  @Test
  void an_answer_that_was_lost_starts_no_second_one() {
    Lease lease = running();
    JobId next = continued(lease);
    assertThat(queue.settle(next(lease))).isEqualTo(Ack.ACCEPTED);
    Lease running = claimOne();
    assertThat(running.job()).isEqualTo(next);
    assertThat(queue.settle(next(lease))).isEqualTo(Ack.ACCEPTED);
    assertThat(queue.settle(new Settlement.Continue(lease, new Json("3"))))
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(2);
  }

  @Test
  void an_attempt_that_was_reaped_starts_none_and_the_next_one_does() {
    Lease lost = running();
    expire(lost);
    maintenance.reap(Duration.ZERO);
    assertThat(queue.settle(next(lost))).isEqualTo(Ack.LEASE_LOST);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(1);
    continued(claimOne());
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(2);
  }

  @Test
  void nothing_follows_a_job_that_was_asked_to_cancel() {
    Lease lease = running();
    Lease other = running();
    queue.cancel(List.of(lease.job()), false, "enough", Tenant.ANY);
    assertThat(queue.settle(List.of(next(lease), next(other))))
        .containsExactly(Ack.ACCEPTED, Ack.ACCEPTED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(queries.attempts(lease.job()).getFirst().outcome())
        .isEqualTo(AttemptOutcome.CANCELLED);
    assertThat(state(other.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(3);
  }

  @Test
  void a_cancel_of_the_parent_that_comes_while_a_job_goes_on_includes_the_next_one()
      throws Exception {
    JobId parent = add(job().queue("elsewhere"));
    Lease lease = addAndClaim(job().parent(parent));
    List<Cancellation> cancelled =
        after(
            connection -> Continue.all(connection, List.of(new Settlement.Continue(lease, NEXT))),
            () -> queue.cancel(List.of(parent), true, "enough", Tenant.ANY));
    assertThat(cancelled)
        .contains(
            new Cancellation(
                JobId.ofSuccessor(lease.job()), JobState.PENDING, Cancellation.Outcome.CANCELLED));
  }

  @Test
  void a_job_that_another_one_has_started_may_not_go_on_as_a_new_one() {
    Lease parent = running();
    Job child = job().id(JobId.ofChild(parent.job(), "c", 1, 0));
    queue.startChildren(new Children(parent, "c", 1, List.of(child), 1));
    Lease lease = claimOne();
    assertRefused(Refusal.BAD_DEPENDENCY, () -> queue.settle(next(lease)));
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(2);
  }

  @Test
  void signals_that_nobody_has_taken_go_along_in_their_order() {
    Lease lease = running();
    signal(lease.job(), "taken");
    Wait wait = new Wait.ForSignal("first", "go", null);
    assertThat(queue.suspend(new Suspension(lease, 1, wait))).isInstanceOf(WaitAnswer.Over.class);
    signal(lease.job(), "one");
    signal(lease.job(), "two");
    JobId next = continued(lease);
    assertThat(events(next)).containsExactly("created", "signal", "signal");
    signal(next, "three");
    Lease running = claimOne();
    for (String payload : List.of("one", "two", "three")) {
      WaitAnswer answer =
          queue.suspend(new Suspension(running, 1, new Wait.ForSignal(payload, "go", null)));
      assertThat(answer)
          .isInstanceOfSatisfying(
              WaitAnswer.Over.class,
              over -> assertThat(over.payload()).isEqualTo(new Json("\"" + payload + "\"")));
    }
  }

  private void signal(JobId job, String payload) {
    queue.signal(
        job, new SignalToJob("go", new Json("\"" + payload + "\""), payload, "ada"), Tenant.ANY);
  }

  @Test
  void a_job_of_a_batch_claim_goes_on_like_any_other() {
    try (JobStore batching =
        new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.batchFrom(0))) {
      queue.enqueue(jobs(2));
      List<Lease> leases =
          batching
              .jobs()
              .claim(new ClaimRequest(QUEUE, 2, WORKER, LEASE).inBatches())
              .jobs()
              .stream()
              .map(LeasedJob::lease)
              .toList();
      assertThat(
              batching.jobs().settle(List.of(next(leases.getFirst()), succeed(leases.getLast()))))
          .containsExactly(Ack.ACCEPTED, Ack.ACCEPTED);
      assertThat(count(JobState.SUCCEEDED)).isEqualTo(2);
      assertThat(claimOne().job()).isEqualTo(JobId.ofSuccessor(leases.getFirst().job()));
    }
  }
}
