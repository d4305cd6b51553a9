package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Throughput;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The jobs that the live view reads, and their limits. */
class ChangedJobsTest extends QueueFixture {
  private List<JobBrief> seen(Duration ago, @Nullable String tenant, int most, JobId... known) {
    return queries.changes(
        new ChangedJob(queries.now().minus(ago), List.of(known), Tenant.of(tenant), most));
  }

  /** As if it had been made, begun and ended long ago. */
  private JobId old(JobId job) {
    JobId past = new JobId(new UUID(7L, job.value().getLeastSignificantBits()));
    db.sql("UPDATE holdfast.job SET id = ? WHERE id = ?", past.value(), job.value());
    set(past, "created_at = 'epoch'");
    return past;
  }

  @Test
  void running_new_recently_ended_and_requested_jobs_are_returned() {
    JobId running = old(running().job());
    Lease ending = running();
    queue.settle(succeed(ending));
    JobId ended = old(ending.job());
    JobId fresh = add(job());
    JobId known = old(add(job()));
    old(add(job()));
    assertThat(seen(Duration.ofHours(1), null, 100, known))
        .extracting(JobBrief::id)
        .containsExactlyInAnyOrder(running, ended, fresh, known);
  }

  @Test
  void jobs_that_ended_before_the_given_time_are_not_returned() {
    Lease ending = running();
    queue.settle(succeed(ending));
    JobId ended = old(ending.job());
    set(ended, "finished_at = now() - interval '1 minute'");
    assertThat(seen(Duration.ofSeconds(5), null, 100)).isEmpty();
    assertThat(seen(Duration.ofHours(1), null, 100)).hasSize(1);
  }

  @Test
  void a_changed_job_has_its_progress_worker_and_failure_code() {
    Lease lease = running();
    queue.report(List.of(new Report.Progress(lease, 40, "halfway, nearly")));
    JobBrief job = seen(Duration.ofHours(1), null, 100).getFirst();
    assertThat(job.state()).isEqualTo(JobState.RUNNING);
    assertThat(job.progress()).isEqualTo(40);
    assertThat(job.progressMessage()).isEqualTo("halfway, nearly");
    assertThat(job.workerId()).isEqualTo(WORKER);
    queue.settle(fail(lease, HOPELESS));
    assertThat(seen(Duration.ofHours(1), null, 100).getFirst().failureCode()).isEqualTo("BAD_ROW");
  }

  @Test
  void no_more_jobs_of_each_sort_are_returned_than_requested() {
    queue.enqueue(jobs(50));
    claim(20);
    assertThat(seen(Duration.ofHours(1), null, 3)).hasSizeLessThanOrEqualTo(6);
  }

  @Test
  void a_tenant_sees_only_its_own_jobs() {
    JobId theirs = add(job().owner("theirs", "default"));
    JobId ours = add(job().owner("ours", "default"));
    claim(2);
    add(job().owner("ours", "default").delay(Duration.ofHours(1)));
    admin.pause(QUEUE);
    assertThat(seen(Duration.ofHours(1), "ours", 100, theirs))
        .extracting(JobBrief::id)
        .contains(ours)
        .doesNotContain(theirs);

    QueueStatus status = admin.queues(Tenant.of("ours")).getFirst();
    assertThat(status.running()).isEqualTo(1);
    assertThat(status.delayed()).isEqualTo(1);
    assertThat(status.pausedAt()).isNotNull();
    assertThat(admin.queues(Tenant.of("nobody"))).isEmpty();
    assertThat(admin.queues(Tenant.ANY).getFirst().running()).isEqualTo(2);

    assertThat(queries.holders(Tenant.of("ours"), 10, 10).getFirst().jobs()).containsExactly(ours);
    assertThat(queries.holders(Tenant.of("nobody"), 10, 10)).isEmpty();
  }

  @Test
  void the_queues_of_a_tenant_count_jobs_by_what_they_wait_for() {
    Lease retrying = running();
    queue.settle(new Settlement.Fail(retrying, FLAKY, Duration.ofHours(1)));
    JobId first = add(job());
    add(job().concurrencyKey("k", 1));
    add(job().dependsOn(first));
    QueueStatus status = admin.queues(Tenant.of("default")).getFirst();
    assertThat(status.due()).isEqualTo(2);
    assertThat(status.retrying()).isEqualTo(1);
    assertThat(status.waiting()).isEqualTo(1);
    assertThat(status.oldest()).isNotNull();
  }

  @Test
  void a_worker_is_listed_with_its_latest_jobs_up_to_the_requested_number() {
    queue.enqueue(jobs(3));
    claim(1);
    claim(1);
    JobId latest = claimOne().job();
    queue.enqueue(job().queue("other"));
    queue.claim(new ClaimRequest("other", 1, "worker:other:0", LEASE));
    List<Holder> holders = queries.holders(Tenant.ANY, 2, 10);
    assertThat(holders).extracting(Holder::worker).containsExactly(WORKER, "worker:other:0");
    assertThat(holders.getFirst().held()).isEqualTo(3);
    assertThat(holders.getFirst().jobs()).hasSize(2).first().isEqualTo(latest);
    assertThat(holders.getFirst().leaseExpiresAt()).isAfter(holders.getFirst().heartbeatAt());
    assertThat(queries.holders(Tenant.ANY, 2, 1)).hasSize(1);
  }

  @Test
  void ended_jobs_are_counted_by_second_and_queue() {
    Instant before = queries.now();
    Lease slow = running();
    set(slow.job(), "started_at = now() - interval '2 s'");
    queue.settle(succeed(slow));
    queue.settle(fail(running(), HOPELESS));
    queue.cancel(List.of(add(job())), false, "x", Tenant.ANY);
    queue.settle(succeed(addAndClaim(job().owner("ours", "default"))));
    Lease early = running();
    queue.settle(succeed(early));
    set(early.job(), "finished_at = now() - interval '1 hour'");

    List<Throughput> all = queries.finished(before, Tenant.ANY);
    assertThat(all).allSatisfy(row -> assertThat(row.queue()).isEqualTo(QUEUE));
    assertThat(all.stream().mapToLong(Throughput::succeeded).sum()).isEqualTo(2);
    assertThat(all.stream().mapToLong(Throughput::failed).sum()).isEqualTo(1);
    assertThat(all.stream().mapToLong(Throughput::cancelled).sum()).isEqualTo(1);
    assertThat(all.stream().mapToLong(row -> row.runTime().toMillis()).sum())
        .isBetween(2_000L, 60_000L);
    assertThat(all)
        .allSatisfy(
            row ->
                assertThat(row.second()).isEqualTo(row.second().truncatedTo(ChronoUnit.SECONDS)));
    assertThat(
            queries.finished(before, Tenant.of("ours")).stream()
                .mapToLong(Throughput::succeeded)
                .sum())
        .isEqualTo(1);
  }
}
