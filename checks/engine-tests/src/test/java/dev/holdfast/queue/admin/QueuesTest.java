package dev.holdfast.queue.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** What an operator sees of queues and jobs. */
class QueuesTest extends QueueFixture {
  private QueueStatus only() {
    List<QueueStatus> queues = admin.queues(Tenant.ANY);
    assertThat(queues).hasSize(1);
    return queues.getFirst();
  }

  @Test
  void an_empty_database_has_no_queues() {
    assertThat(admin.queues(Tenant.ANY)).isEmpty();
    assertThat(queries.statistics(Tenant.ANY).rows()).isEmpty();
    assertThat(queries.list(JobFilter.ALL)).isEmpty();
    assertThat(queries.depth(List.of(QUEUE), 10, Tenant.ANY)).isZero();
    assertThat(queries.depth(List.of(), 10, Tenant.ANY)).isZero();
  }

  @Test
  void the_age_of_the_oldest_job_without_a_concurrency_key_is_reported_separately() {
    JobId keyed = add(job().concurrencyKey("k", 1));
    set(keyed, "run_at = now() - interval '90 s'");
    assertThat(only().oldest()).isGreaterThanOrEqualTo(Duration.ofSeconds(90));
    assertThat(only().oldestFree()).isNull();
    set(add(job()), "run_at = now() - interval '30 s'");
    assertThat(only().oldestFree()).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(80));
  }

  @Test
  void a_queue_counts_its_jobs_by_what_they_wait_for() {
    Lease retrying = running();
    queue.settle(new Settlement.Fail(retrying, FLAKY, Duration.ofHours(1)));
    running();
    running();
    queue.settle(succeed(running()));
    JobId due = add(job());
    set(due, "run_at = now() - interval '90 s'");
    add(job().concurrencyKey("k", 1));
    add(job().delay(Duration.ofHours(1)));
    add(job().delay(Duration.ofHours(1)).concurrencyKey("k", 1));
    add(job().dependsOn(due));

    QueueStatus status = only();

    assertThat(status.name()).isEqualTo(QUEUE);
    assertThat(status.due()).isEqualTo(2);
    assertThat(status.delayed()).isEqualTo(2);
    assertThat(status.retrying()).isEqualTo(1);
    assertThat(status.waiting()).isEqualTo(1);
    assertThat(status.running()).isEqualTo(2);
    assertThat(status.oldest()).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(180));
    assertThat(status.pausedAt()).isNull();
    assertThat(status.maxRunning()).isNull();
  }

  @Test
  void a_queue_is_listed_if_it_has_settings_or_unfinished_jobs() {
    admin.pause("paused");
    admin.limit("limited", 3);
    queue.settle(succeed(addAndClaim(job().queue("finished"))));
    add(job().queue("busy"));
    assertThat(admin.queues(Tenant.ANY))
        .extracting(QueueStatus::name)
        .containsExactly("busy", "limited", "paused");
    assertThat(admin.queues(Tenant.ANY).get(1).maxRunning()).isEqualTo(3);
    assertThat(admin.queues(Tenant.ANY).get(1).oldest()).isNull();
    assertThat(admin.queues(Tenant.ANY).get(2).pausedAt()).isNotNull();
  }

  @Test
  void pausing_twice_keeps_the_first_pause_time_and_the_limit() {
    admin.limit(QUEUE, 2);
    admin.pause(QUEUE);
    QueueStatus first = only();
    admin.pause(QUEUE);
    assertThat(only()).isEqualTo(first);
    assertThat(first.maxRunning()).isEqualTo(2);
    admin.resume(QUEUE);
    assertThat(only().maxRunning()).isEqualTo(2);
    admin.limit(QUEUE, null);
    assertThat(admin.queues(Tenant.ANY))
        .as("a queue without settings and jobs is not listed")
        .isEmpty();
    assertThat(admin.resume("unheard-of")).isFalse();
  }

  @Test
  void an_invalid_setting_is_refused() {
    assertRefused(Refusal.BAD_NAME, () -> admin.pause("no such name"));
    assertRefused(Refusal.BAD_NAME, () -> admin.resume("a:b"));
    assertRefused(Refusal.BAD_NAME, () -> admin.limit("", 1));
    assertRefused(Refusal.BAD_LIMIT, () -> admin.limit(QUEUE, 0));
    assertRefused(Refusal.BAD_LIMIT, () -> admin.limit(QUEUE, -1));
    assertThat(admin.queues(Tenant.ANY)).isEmpty();
  }

  @Test
  void the_depth_counts_due_jobs_up_to_a_bound() {
    queue.enqueue(jobs(30));
    queue.enqueue(jobs(20).stream().map(job -> job.queue("mail").priority(1)).toList());
    queue.enqueue(jobs(10).stream().map(job -> job.concurrencyKey("k", 1)).toList());
    queue.enqueue(jobs(5).stream().map(job -> job.delay(Duration.ofHours(1))).toList());
    assertThat(queries.depth(List.of(QUEUE), 1_000, Tenant.ANY)).isEqualTo(40);
    assertThat(queries.depth(List.of(QUEUE, "mail"), 1_000, Tenant.ANY)).isEqualTo(60);
    assertThat(queries.depth(List.of("mail", "unknown"), 1_000, Tenant.ANY)).isEqualTo(20);
    assertThat(queries.depth(List.of(QUEUE, "mail"), 45, Tenant.ANY)).isEqualTo(45);
    assertThat(queries.depth(List.of(QUEUE), 7, Tenant.ANY)).isEqualTo(7);
    claim(10);
    assertThat(queries.depth(List.of(QUEUE), 1_000, Tenant.ANY)).isEqualTo(30);
  }

  @Test
  void statistics_count_jobs_by_state_kind_and_queue() {
    queue.enqueue(jobs(3));
    queue.settle(succeed(claimOne()));
    claimOne();
    add(Job.of("other"));
    add(job().queue("mail"));
    Statistics statistics = queries.statistics(Tenant.ANY);
    assertThat(statistics.rows())
        .containsExactlyInAnyOrder(
            new Statistics.Row(QUEUE, "test", JobState.SUCCEEDED, 1),
            new Statistics.Row(QUEUE, "test", JobState.RUNNING, 1),
            new Statistics.Row(QUEUE, "test", JobState.PENDING, 1),
            new Statistics.Row(QUEUE, "other", JobState.PENDING, 1),
            new Statistics.Row("mail", "test", JobState.PENDING, 1));
    assertThat(statistics.byState())
        .containsEntry(JobState.PENDING, 3L)
        .containsEntry(JobState.RUNNING, 1L)
        .containsEntry(JobState.SUCCEEDED, 1L)
        .containsEntry(JobState.FAILED, 0L)
        .hasSize(JobState.values().length);
  }

  @Test
  void jobs_are_listed_newest_first_in_pages() {
    List<JobId> ids = new ArrayList<>(queue.enqueue(jobs(25)).stream().map(e -> e.id()).toList());
    Collections.reverse(ids);
    List<JobId> listed = new ArrayList<>();
    JobFilter page = JobFilter.ALL.limit(10);
    for (List<JobStatus> jobs = queries.list(page); !jobs.isEmpty(); jobs = queries.list(page)) {
      jobs.forEach(job -> listed.add(job.id()));
      page = page.before(JobCursor.of(jobs.getLast()));
    }
    assertThat(listed).isEqualTo(ids);
  }

  @Test
  void a_list_is_narrowed_by_state_queue_and_kind() {
    Lease failed = running();
    queue.settle(fail(failed, HOPELESS));
    Lease done = addAndClaim(Job.of("other"));
    queue.settle(succeed(done));
    JobId mail = add(job().queue("mail"));
    Map<JobFilter, List<JobId>> expected =
        Map.of(
            JobFilter.ALL,
            List.of(mail, done.job(), failed.job()),
            JobFilter.ALL.states(Set.of(JobState.FAILED)),
            List.of(failed.job()),
            JobFilter.ALL.states(JobState.TERMINAL),
            List.of(done.job(), failed.job()),
            JobFilter.ALL.queue("mail"),
            List.of(mail),
            JobFilter.ALL.kind("test"),
            List.of(mail, failed.job()),
            JobFilter.ALL.kind("test").queue(QUEUE),
            List.of(failed.job()),
            JobFilter.ALL.kind("test").states(Set.of(JobState.SUCCEEDED)),
            List.of(),
            JobFilter.ALL.before(JobCursor.of(status(done.job()))),
            List.of(failed.job()));
    expected.forEach(
        (filter, jobs) ->
            assertThat(queries.list(filter))
                .as("%s", filter)
                .extracting(JobStatus::id)
                .isEqualTo(jobs));
  }

  @Test
  void a_page_size_out_of_range_is_refused() {
    Assertions.assertThatThrownBy(() -> JobFilter.ALL.limit(1_001))
        .isInstanceOf(IllegalArgumentException.class);
    Assertions.assertThatThrownBy(() -> JobFilter.ALL.limit(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void no_kind_of_claim_returns_a_job_while_all_queues_are_paused() {
    List<String> names =
        List.of("usual", "keyed", "limited", "rated", "alone", "retried", "waiting");
    add(job().queue("usual"));
    add(job().queue("keyed").concurrencyKey("k", 1));
    admin.limit("limited", 5);
    add(job().queue("limited"));
    admin.rate("rated", 5, Duration.ofSeconds(1));
    add(job().queue("rated"));
    set(add(job().queue("alone")), "isolated = true");
    queue.settle(fail(addAndClaim(job().queue("retried")), FLAKY));
    Lease before = addAndClaim(job().queue("before"));
    add(job().queue("waiting").dependsOn(before.job()));
    queue.settle(succeed(before));

    admin.pauseAllWorkers();
    for (String name : names) {
      assertThat(queue.claim(new ClaimRequest(name, 1, "w:" + name, LEASE)).jobs())
          .as(name)
          .isEmpty();
      assertThat(
              queue
                  .claim(new ClaimRequest(name, 1, "w:" + name, LEASE).tenant(Tenant.of("default")))
                  .jobs())
          .as(name)
          .isEmpty();
    }
    assertThat(admin.queues(Tenant.ANY))
        .allSatisfy(each -> assertThat(each.isPaused()).as(each.name()).isTrue())
        .allSatisfy(each -> assertThat(each.pausedAt()).as(each.name()).isNull());
    assertThat(admin.queue("empty", Tenant.ANY).isPaused()).isTrue();
    admin.resumeAllWorkers();
    assertThat(admin.queues(Tenant.ANY))
        .allSatisfy(each -> assertThat(each.isPaused()).as(each.name()).isFalse());
    assertThat(admin.queue("empty", Tenant.ANY).isPaused()).isFalse();
    for (String name : names) {
      assertThat(queue.claim(new ClaimRequest(name, 1, "w:" + name, LEASE)).jobs())
          .as(name)
          .hasSize(1);
    }
  }

  @Test
  void a_job_that_runs_alone_is_counted_once() {
    set(add(job()), "isolated = true");
    set(add(job().concurrencyKey("k", 1)), "isolated = true");
    add(job());
    QueueStatus status = admin.queues(Tenant.ANY).getFirst();
    assertThat(status.due()).isEqualTo(3);
    assertThat(queries.depth(List.of(QUEUE), 10, Tenant.ANY)).isEqualTo(3);
  }

  @Test
  void a_claim_returns_when_a_delayed_suspect_is_due() {
    set(add(job().delay(Duration.ofMinutes(1))), "isolated = true");
    assertThat(queue.claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).nextDue())
        .isBetween(Duration.ofSeconds(30), Duration.ofMinutes(1));
  }
}
