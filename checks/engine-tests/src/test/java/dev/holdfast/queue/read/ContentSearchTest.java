package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Finding jobs by their payload and failure, and listing dependencies. */
class ContentSearchTest extends QueueFixture {
  private static JobFilter search(String text) {
    return SearchSyntax.parse(text, Instant.now());
  }

  private List<JobId> found(String text) {
    return queries.page(search(text)).jobs().stream().map(JobStatus::id).toList();
  }

  private JobId failed(String kind, String code, String message, int attempts) {
    JobId id = add(Job.of(kind).maxAttempts(attempts));
    Failure failure = Failure.of(FailureCategory.USER_CODE, code, message);
    queue.settle(fail(claimOne(), failure));
    return id;
  }

  @Test
  void jobs_are_found_by_fields_of_their_payloads() {
    JobId text = add(Job.of("mail", Map.of("customer", Map.of("id", "7"), "rush", true)));
    JobId number = add(Job.of("mail", Map.of("customer", Map.of("id", 7))));
    add(Job.of("mail", Map.of("customer", Map.of("id", 8))));
    assertThat(found("payload.customer.id:7")).containsExactly(number, text);
    assertThat(found("payload.customer.id:7 payload.rush:true")).containsExactly(text);
    assertThat(found("payload.customer.id:7 kind:other")).isEmpty();
    assertThat(found("payload.customer:7")).isEmpty();
  }

  @Test
  void jobs_are_found_by_the_code_of_their_failure_and_of_its_cause() {
    JobId exhausted = failed("mail", "SMTP", "550 mailbox unavailable", 1);
    failed("mail", "OTHER", "no", 1);
    add(job());
    assertThat(found("code:SMTP")).containsExactly(exhausted);
    assertThat(found("code:RETRIES_EXHAUSTED")).hasSize(2);
    Failure failure = failure(exhausted);
    assertThat(failure.code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure.root()).isEqualTo(new Failure.Cause("SMTP", "550 mailbox unavailable"));
    // Whatever has no failure is known not to match, so that all is searched.
    assertThat(queries.page(search("code:SMTP")).searchComplete()).isTrue();
  }

  @Test
  void failures_that_differ_in_numbers_and_ids_are_one_group() {
    failed("mail", "SMTP", "order 17 of 01a1dd2e-f353-76f8-a511-56f9f536979c: timeout", 1);
    JobId latest = failed("mail", "SMTP", "order 1042 of " + JobId.next() + ": timeout", 1);
    JobId others = failed("mail", "SMTP", "no such mailbox", 1);
    JobId kinds = failed("report", "SMTP", "no such mailbox", 1);

    FailureGroups failures = queries.failures(Tenant.ANY, 10);
    assertThat(failures.searched()).isEqualTo(4);
    assertThat(failures.more()).isFalse();
    assertThat(failures.groups())
        .extracting(FailureGroups.Group::latest)
        .containsExactly(kinds, others, latest);
    FailureGroups.Group group = failures.groups().getLast();
    assertThat(group.jobs()).isEqualTo(2);
    assertThat(group.code()).isEqualTo("SMTP");
    assertThat(group.pattern()).isEqualTo("order # of #: timeout");
    assertThat(group.message()).startsWith("order 1042 of ");
    assertThat(group.workers()).containsExactly(WORKER);
    assertThat(group.queues()).containsExactly(QUEUE);
    assertThat(group.hours()).hasSize(FailureGroups.POINTS).last().isEqualTo(2);
    assertThat(group.firstSeen()).isBeforeOrEqualTo(group.lastSeen());

    // Its signature finds its jobs, and nothing else.
    assertThat(found("failure:" + group.signature())).hasSize(2).contains(latest);
    assertThat(queries.count(search("failure:" + group.signature()), 10).count()).isEqualTo(2);
    assertThat(queries.failures(Tenant.of("nobody"), 10).groups()).isEmpty();
  }

  @Test
  void jobs_are_counted_by_state_queue_and_kind() {
    failed("mail", "SMTP", "no", 1);
    add(Job.of("mail", Map.of("to", "ada")));
    add(Job.of("report").queue("slow"));
    assertThat(queries.counts(JobFilter.ALL).rows())
        .containsExactlyInAnyOrder(
            new JobCounts.Row(JobState.FAILED, QUEUE, "mail", 1),
            new JobCounts.Row(JobState.PENDING, QUEUE, "mail", 1),
            new JobCounts.Row(JobState.PENDING, "slow", "report", 1));
    JobCounts some = queries.counts(search("payload.to:ada"));
    assertThat(some.rows()).containsExactly(new JobCounts.Row(JobState.PENDING, QUEUE, "mail", 1));
    assertThat(some.searched()).isEqualTo(3);
    assertThat(some.more()).isFalse();
    assertThat(queries.counts(search("kind:nothing")).rows()).isEmpty();
  }

  @Test
  void failed_jobs_older_than_all_that_are_counted_are_counted_too() {
    failed("mail", "X", "no", 1);
    failed("report", "X", "no", 1);
    db.sql(
        """
        INSERT INTO holdfast.job (id, queue, kind, tenant, state, run_at, created_at, max_attempts,
               max_crashes, priority, workspace, run_id, run_key, payload, finished_at)
        SELECT id, 'q', 'many', 'default', 'CANCELLED', now(), now(), 3, 2, 5, 'default', id, 'x', '{}', now()
          FROM (SELECT ('ffffffff-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id
                  FROM generate_series(1, 20000) AS n) AS numbered
        """);
    JobCounts counts = queries.counts(JobFilter.ALL);
    assertThat(counts.rows())
        .containsExactlyInAnyOrder(
            new JobCounts.Row(JobState.CANCELLED, "q", "many", 20_000),
            new JobCounts.Row(JobState.FAILED, QUEUE, "mail", 1),
            new JobCounts.Row(JobState.FAILED, QUEUE, "report", 1));
    assertThat(counts.more()).isTrue();
    assertThat(counts.partial())
        .contains(JobState.CANCELLED, JobState.PENDING)
        .doesNotContain(JobState.FAILED, JobState.RUNNING);
    assertThat(queries.counts(search("kind:mail")).rows())
        .containsExactly(new JobCounts.Row(JobState.FAILED, QUEUE, "mail", 1));
  }

  @Test
  void a_job_lists_its_dependencies_and_its_dependents() {
    JobId done = add(Job.of("fetch"));
    queue.settle(succeed(claimOne()));
    JobId open = add(Job.of("clean").queue("other"));
    JobId job = add(Job.of("load").dependsOn(done, open));
    JobId last = add(Job.of("mail").dependsOn(job));
    JobDependencies dependencies = queries.dependencies(job);
    assertThat(dependencies.dependsOn())
        .extracting(JobDependencies.Related::id)
        .as("dependencies come first")
        .containsExactly(open, done);
    assertThat(dependencies.waitsFor())
        .containsExactly(
            new JobDependencies.Related(open, "clean", "other", "default", JobState.PENDING));
    assertThat(dependencies.dependents())
        .extracting(JobDependencies.Related::id)
        .containsExactly(last);
    assertThat(queries.dependencies(done).dependsOn()).isEmpty();
  }
}
