package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobPage;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.schema.Schema;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the server asks for one tenant, and what it asks for all. */
class TenantTest extends QueueFixture {
  private static Job of(String tenant) {
    return job().owner(tenant, "w");
  }

  private List<LeasedJob> claimFor(String tenant, int most) {
    return queue.claim(QUEUE, most, WORKER, LEASE, tenant).jobs();
  }

  // ---- claims

  @Test
  void a_claim_of_one_tenant_takes_its_jobs_in_their_order_and_no_others() {
    JobId late = add(of("acme").priority(9));
    add(of("other").priority(0));
    JobId first = add(of("acme").priority(1));
    assertThat(claimFor("acme", 10)).extracting(LeasedJob::id).containsExactly(first, late);
    assertThat(claimFor("acme", 10)).isEmpty();
    assertThat(claim(10)).extracting(LeasedJob::tenant).containsExactly("other");
  }

  @Test
  void jobs_with_keys_are_claimed_by_tenant_within_a_limit_that_each_has_for_itself() {
    JobId others = add(of("other").concurrencyKey("k", 1));
    add(of("other").concurrencyKey("k", 1));
    JobId own = add(of("acme").concurrencyKey("k", 1));
    JobId plain = add(of("acme"));
    assertThat(claimFor("acme", 10))
        .extracting(LeasedJob::id)
        .containsExactlyInAnyOrder(own, plain);
    assertThat(claimFor("other", 10)).extracting(LeasedJob::id).containsExactly(others);
    assertThat(claimFor("other", 10)).isEmpty();
    assertThat(claimFor("third", 10)).isEmpty();
  }

  @Test
  void a_limited_queue_is_claimed_by_tenant_within_the_limit_all_tenants_share() {
    admin.limit(QUEUE, 2);
    add(of("other"));
    add(of("acme"));
    add(of("acme"));
    add(of("acme"));
    assertThat(claimFor("other", 10)).extracting(LeasedJob::tenant).containsExactly("other");
    assertThat(claimFor("acme", 10)).extracting(LeasedJob::tenant).containsExactly("acme");
    assertThat(claimFor("acme", 10)).isEmpty();
  }

  @Test
  void a_paused_queue_gives_no_tenant_anything() {
    add(of("acme"));
    admin.pause(QUEUE);
    assertThat(claimFor("acme", 1)).isEmpty();
    admin.resume(QUEUE);
    assertThat(claimFor("acme", 1)).hasSize(1);
  }

  @Test
  void a_retry_that_came_due_is_found_by_its_tenant() {
    JobId id = add(of("acme"));
    queue.settle(fail(claimFor("acme", 1).getFirst().lease(), FLAKY));
    assertThat(claimFor("other", 1)).isEmpty();
    assertThat(claimFor("acme", 1)).extracting(LeasedJob::id).containsExactly(id);
  }

  // ---- lists and counts

  private List<JobId> ids(JobFilter filter) {
    return queries.list(filter).stream().map(JobStatus::id).toList();
  }

  @Test
  void lists_are_filtered_by_tenant_run_and_parent() {
    JobId run = JobId.next();
    JobId a = add(of("acme").run(run, "x"));
    JobId b = add(of("other").run(run, "y"));
    JobId c = add(of("acme").parent(a));
    assertThat(ids(JobFilter.ALL.tenant("acme"))).containsExactly(c, a);
    assertThat(ids(JobFilter.ALL.run(run))).containsExactly(b, a);
    assertThat(ids(JobFilter.ALL.run(run).tenant("other"))).containsExactly(b);
    assertThat(ids(JobFilter.ALL.run(c))).containsExactly(c);
    assertThat(ids(JobFilter.ALL.parent(a))).containsExactly(c);
  }

  @Test
  void a_list_that_no_index_leads_to_stops_at_its_bound_and_goes_on_from_there()
      throws SQLException {
    JobId oldest = add(Job.of("needle"));
    queue.enqueue(jobs(20));
    JobId old = add(Job.of("needle"));
    queue.enqueue(jobs(9));
    JobFilter needles = JobFilter.ALL.kind("needle");
    try (Connection connection = db.connection()) {
      JobPage first = Search.page(connection, needles, 10);
      assertThat(first.jobs()).extracting(JobStatus::id).containsExactly(old);
      assertThat(first.searchComplete()).isFalse();
      JobPage second = Search.page(connection, needles.before(first.next()), 10);
      assertThat(second.jobs()).isEmpty();
      JobPage third = Search.page(connection, needles.before(second.next()), 10);
      assertThat(third.jobs()).isEmpty();
      JobPage last = Search.page(connection, needles.before(third.next()), 10);
      assertThat(last.jobs()).extracting(JobStatus::id).containsExactly(oldest);
      assertThat(last.next()).isNull();
      assertThat(last.searchComplete()).isTrue();
      // Where an index leads to them, or any will do, there is nothing to walk over.
      JobFilter pending = needles.states(Set.of(JobState.PENDING));
      assertThat(Search.page(connection, pending, 10).jobs()).hasSize(2);
      assertThat(Search.page(connection, JobFilter.ALL.limit(31), 10).jobs()).hasSize(31);
    }
    assertThat(ids(needles)).containsExactly(old, oldest);
  }

  @Test
  void a_search_stops_at_its_bound_says_so_and_goes_on_from_there() {
    JobId needle = add(Job.of("needle"));
    for (int i = 0; i < Search.MOST_READ + 10; i += 1_000) {
      queue.enqueue(jobs(1_000));
    }
    JobFilter filter = JobFilter.ALL.text("needle");
    JobPage first = queries.page(filter);
    assertThat(first.jobs()).isEmpty();
    assertThat(first.searchComplete()).isFalse();
    JobPage second = queries.page(filter.before(first.next()));
    assertThat(second.jobs()).extracting(JobStatus::id).containsExactly(needle);
    assertThat(second.searchComplete()).isTrue();
    assertThat(second.next()).isNull();
  }

  @Test
  void a_search_finds_page_after_page() {
    List<JobId> all = new ArrayList<>();
    IntStream.range(0, 5).forEach(i -> all.addFirst(add(Job.of("hay-" + i))));
    JobFilter filter = JobFilter.ALL.text("HAY").limit(2);
    List<JobId> found = new ArrayList<>();
    JobPage page = queries.page(filter);
    while (page.next() != null) {
      page.jobs().forEach(job -> found.add(job.id()));
      page = queries.page(filter.before(page.next()));
    }
    page.jobs().forEach(job -> found.add(job.id()));
    assertThat(found).isEqualTo(all);
  }

  @Test
  void a_payload_too_large_to_read_through_is_passed_by_and_that_is_said() {
    // Not to be compressed, or it would be small.
    StringBuilder noise = new StringBuilder();
    java.util.Random random = new java.util.Random(7);
    while (noise.length() < 2 * Search.LARGEST_PAYLOAD) {
      noise.append(Long.toHexString(random.nextLong()));
    }
    add(Job.of("large", new Json("{\"needle\": \"" + noise + "\"}")));
    JobPage page = queries.page(JobFilter.ALL.text("needle"));
    assertThat(page.jobs()).isEmpty();
    assertThat(page.searchComplete()).isFalse();
    assertThat(queries.page(JobFilter.ALL.text("large")).jobs()).hasSize(1);
  }

  @Test
  void queues_and_statistics_count_one_tenant_only() {
    add(of("acme").queue("a"));
    add(of("acme").queue("a").concurrencyKey("k", 1));
    add(of("acme").queue("a").delay(Duration.ofHours(1)));
    add(of("other").queue("a"));
    add(of("other").queue("b"));
    admin.pause("c");
    assertThat(admin.queues(null)).extracting(QueueStatus::name).containsExactly("a", "b", "c");
    List<QueueStatus> own = admin.queues("acme");
    assertThat(own).extracting(QueueStatus::name).containsExactly("a");
    assertThat(own.getFirst().due()).isEqualTo(2);
    assertThat(own.getFirst().delayed()).isEqualTo(1);
    assertThat(queries.statistics("acme").byState()).containsEntry(JobState.PENDING, 3L);
    assertThat(queries.statistics("third").rows()).isEmpty();
    assertThat(queries.statistics().byState()).containsEntry(JobState.PENDING, 5L);
  }

  @Test
  void workers_are_told_from_the_jobs_they_run() {
    add(of("acme").queue("a"));
    add(of("acme").queue("b"));
    add(of("other").queue("a"));
    queue.claim("a", 2, "w1", LEASE);
    queue.claim("b", 1, "w1", LEASE);
    assertThat(opened.workers().readings().fleet(null).all()).hasSize(1);
    WorkerView worker = opened.workers().readings().fleet("acme").all().getFirst();
    assertThat(worker.workerId()).isEqualTo("w1");
    assertThat(worker.runningJobs()).isEqualTo(2);
    assertThat(worker.queues()).containsExactly("a", "b");
    assertThat(worker.lastHeartbeat()).isAfterOrEqualTo(worker.oldestJobStartedAt());
    assertThat(opened.workers().readings().fleet("third").all()).isEmpty();
  }

  @Test
  void warnings_count_late_failures_and_leases_nobody_took_back() {
    assertThat(queries.warnings(null, Duration.ZERO)).isEqualTo(new Warnings(0, 0, 0));
    queue.settle(fail(addAndClaim(of("acme").maxAttempts(1)), HOPELESS));
    expire(addAndClaim(of("other")));
    assertThat(queries.warnings(null, Duration.ZERO)).isEqualTo(new Warnings(1, 0, 1));
    assertThat(queries.warnings("acme", Duration.ZERO)).isEqualTo(new Warnings(1, 0, 0));
    assertThat(queries.warnings(null, Duration.ofDays(1))).isEqualTo(new Warnings(1, 0, 0));
  }

  @Test
  void a_lease_is_overdue_once_it_could_be_taken_back_for_as_long_as_it_lasted() {
    Lease lease = addAndClaim(of("acme"));
    String tenSecondsAgo = "lease_expires_at = now() - interval '10 s', heartbeat_at = now() - ";
    set(lease.job(), tenSecondsAgo + "interval '40 s'");
    assertThat(queries.warnings(null, Duration.ZERO).overdue()).isZero();
    set(lease.job(), tenSecondsAgo + "interval '10.001 s'");
    assertThat(queries.warnings(null, Duration.ZERO).overdue()).isEqualTo(1);
    // No reaper has come yet, for so long it waits.
    assertThat(queries.warnings(null, Duration.ofSeconds(60)).overdue()).isZero();
  }

  // ---- operating

  @Test
  void cancels_and_retries_pass_other_tenants_by() {
    JobId own = add(of("acme"));
    JobId foreign = add(of("other"));
    List<JobId> both = List.of(own, foreign);
    assertThat(queue.cancel(both, false, "x", GRACE, "acme"))
        .extracting(Cancellation::job)
        .containsExactly(own);
    assertThat(state(foreign)).isEqualTo(JobState.PENDING);
    queue.cancel(foreign, false, "x", GRACE);
    assertThat(queue.retry(both, "acme")).containsExactly(own);
    assertThat(state(foreign)).isEqualTo(JobState.CANCELLED);
  }

  // ---- dispatch

  @Test
  void a_queue_is_pushed_to_one_place_until_it_is_told_not_to() {
    String secret = "a-secret-of-some-length";
    admin.dispatch(new Dispatch("a", URI.create("http://one.example/"), secret, 3));
    admin.dispatch(new Dispatch("a", URI.create("http://two.example/"), secret, 4));
    assertThat(admin.dispatches())
        .containsExactly(new Dispatch("a", URI.create("http://two.example/"), secret, 4));
    assertThat(admin.dispatches().toString()).doesNotContain(secret);
    assertThat(admin.queues()).extracting(QueueStatus::name).containsExactly("a");
    assertThat(admin.stopDispatch("a")).isTrue();
    assertThat(admin.stopDispatch("a")).isFalse();
    assertThat(admin.dispatches()).isEmpty();
    assertRefused(
        Refusal.BAD_KEY, () -> new Dispatch("a", URI.create("http://one.example/"), "short", 1));
    assertRefused(
        Refusal.BAD_LIMIT, () -> new Dispatch("a", URI.create("http://one.example/"), secret, 0));
  }

  @Test
  void the_database_says_which_it_is() {
    assertThat(opened.version().schema()).isEqualTo(Schema.VERSION);
    assertThat(opened.version().server()).isNotBlank();
  }
}
