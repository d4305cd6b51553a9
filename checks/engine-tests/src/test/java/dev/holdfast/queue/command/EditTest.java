package dev.holdfast.queue.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobEdit.Outcome;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.OnConnection;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class EditTest extends QueueFixture {
  private static final Instant LATER = Instant.parse("2090-01-01T00:00:00Z");
  private static final JobEdit FIRST = JobEdit.NOTHING.priority(0);

  private Outcome edit(JobId job, JobEdit edit) {
    return queue.edit(job, edit, Tenant.ANY).orElseThrow().outcome();
  }

  private JobStatus read(JobId job) {
    return queries.find(job).orElseThrow();
  }

  @Test
  void priority_due_time_and_payload_are_changed_and_recorded_in_the_timeline() {
    JobId job = add(Job.of("mail", Map.of("to", "ada")));
    assertThat(edit(job, JobEdit.NOTHING.priority(2).runAt(LATER).payload(Map.of("to", "bob"))))
        .isEqualTo(Outcome.EDITED);
    assertThat(read(job))
        .returns(2, JobStatus::priority)
        .returns(LATER, JobStatus::runAt)
        .returns(new Json("{\"to\": \"bob\"}"), JobStatus::payload)
        .returns(JobState.PENDING, JobStatus::state);
    assertThat(queries.timeline(job)).hasSize(2);
    assertThat(queries.timeline(job).getLast())
        .satisfies(event -> assertThat(event.type()).isEqualTo("edited"))
        .satisfies(event -> assertThat(event.number()).isEqualTo(2))
        .satisfies(
            event ->
                assertThat(event.data().text())
                    .contains("\"priority\": {\"to\": 2, \"from\": 5}", "2090", "replaced")
                    .doesNotContain("ada", "bob"));
  }

  @Test
  void fields_that_are_not_given_are_unchanged() {
    JobId job = add(Job.of("mail", Map.of("to", "ada")).priority(7).runAt(LATER));
    assertThat(edit(job, FIRST)).isEqualTo(Outcome.EDITED);
    assertThat(read(job))
        .returns(0, JobStatus::priority)
        .returns(LATER, JobStatus::runAt)
        .returns(new Json("{\"to\": \"ada\"}"), JobStatus::payload);
    assertThat(queries.timeline(job).getLast().data().text())
        .contains("priority")
        .doesNotContain("runAt", "payload");
  }

  @Test
  void a_delayed_job_can_be_made_due_now_and_claims_follow_the_new_order() {
    JobId first = add(job());
    JobId second = add(job().delay(Duration.ofHours(1)));
    edit(second, JobEdit.NOTHING.priority(1).delay(Duration.ZERO));
    assertThat(claim(2)).extracting(LeasedJob::id).containsExactly(second, first);
  }

  @Test
  void waiting_and_retrying_jobs_can_be_changed() {
    JobId other = add(job().runAt(LATER));
    JobId waiting = add(job().dependsOn(other));
    Lease lease = addAndClaim(job().queue("flaky"));
    queue.settle(new Settlement.Fail(lease, FLAKY, null));
    for (JobId job : List.of(waiting, lease.job())) {
      JobState state = read(job).state();
      assertThat(edit(job, FIRST)).isEqualTo(Outcome.EDITED);
      assertThat(read(job)).returns(0, JobStatus::priority).returns(state, JobStatus::state);
    }
  }

  @Test
  void a_running_ended_or_unknown_job_is_not_changed() {
    Lease lease = running();
    assertThat(queue.edit(lease.job(), FIRST, Tenant.ANY))
        .hasValue(new JobEdit.Answer(lease.job(), JobState.RUNNING, Outcome.ALREADY_RUNNING));
    queue.settle(succeed(lease));
    assertThat(edit(lease.job(), FIRST)).isEqualTo(Outcome.ALREADY_TERMINAL);
    assertThat(read(lease.job()).priority()).isEqualTo(5);
    assertThat(queries.timeline(lease.job())).hasSize(3);
    assertThat(queue.edit(JobId.next(), FIRST, Tenant.ANY)).isEqualTo(Optional.empty());
  }

  @Test
  void a_job_of_another_tenant_is_not_found() {
    JobId job = add(job().owner("acme", "default"));
    assertThat(queue.edit(job, FIRST, Tenant.of("other"))).isEqualTo(Optional.empty());
    assertThat(queue.edit(job, FIRST, Tenant.of("acme"))).isPresent();
  }

  @Test
  void a_batch_claimed_job_is_not_changed() {
    try (JobStore batching =
        new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.batchFrom(0))) {
      JobId job = add(job());
      assertThat(
              batching.jobs().claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE).inBatches()).jobs())
          .hasSize(1);
      assertThat(edit(job, FIRST)).isEqualTo(Outcome.ALREADY_RUNNING);
      assertThat(read(job).priority()).isEqualTo(5);
    }
  }

  @Test
  void an_uncommitted_edit_keeps_the_job_from_being_claimed() throws Exception {
    JobId job = add(job());
    try (JobStore batching =
            new JobStore(
                db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.batchFrom(0));
        Connection editor = db.dataSource().getConnection()) {
      editor.setAutoCommit(false);
      Optional<Edit.Edited> edited =
          OnConnection.changing(
              editor,
              in -> LockJob.of(in, job, Tenant.ANY),
              in -> Edit.one(in, job, FIRST, new JacksonCodec(), Tenant.ANY));
      assertThat(edited).isPresent();
      assertThat(claim(1)).isEmpty();
      assertThat(
              batching.jobs().claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE).inBatches()).jobs())
          .isEmpty();
      editor.commit();
      editor.setAutoCommit(true);
    }
    assertThat(claimOne().job()).isEqualTo(job);
  }

  @Test
  void with_a_concurrent_edit_and_claim_the_worker_gets_what_the_edit_returned() {
    for (int round = 0; round < 50; round++) {
      JobId job = add(job());
      List<Object> answers =
          Parallel.run(
              2,
              i ->
                  i == 0
                      ? (Callable<Object>) () -> edit(job, JobEdit.NOTHING.payload(Map.of("n", 1)))
                      : () -> claim(1));
      List<LeasedJob> claimed = new ArrayList<>();
      answers.stream()
          .filter(List.class::isInstance)
          .forEach(list -> ((List<?>) list).forEach(each -> claimed.add((LeasedJob) each)));
      claimed.addAll(claim(1));
      assertThat(claimed).hasSize(1);
      assertThat(claimed.getFirst().payload().text())
          .isEqualTo(answers.contains(Outcome.EDITED) ? "{\"n\": 1}" : "{}");
      queue.settle(succeed(claimed.getFirst().lease()));
    }
  }

  @Test
  void a_changed_payload_has_the_limits_of_an_enqueue() {
    JobId job = add(job());
    assertRefused(
        Refusal.PAYLOAD_TOO_LARGE,
        () -> queue.edit(job, JobEdit.NOTHING.payload("x".repeat(2 << 20)), Tenant.ANY));
    assertRefused(
        Refusal.PAYLOAD_NOT_JSON,
        () -> queue.edit(job, JobEdit.NOTHING.payload(new Json("{")), Tenant.ANY));
    assertRefused(Refusal.BAD_PRIORITY, () -> JobEdit.NOTHING.priority(10));
    assertRefused(Refusal.BAD_DELAY, () -> JobEdit.NOTHING.delay(Duration.ofSeconds(-1)));
    assertThat(queries.timeline(job)).hasSize(1);
  }
}
