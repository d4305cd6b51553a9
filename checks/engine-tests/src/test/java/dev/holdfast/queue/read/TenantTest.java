package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.search.RunSummary;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
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

/** Queries of the server for one tenant and for all. */
class TenantTest extends QueueFixture {
  private static Job of(String tenant) {
    return job().owner(tenant, "w");
  }

  private List<LeasedJob> claimFor(String tenant, int most) {
    return queue
        .claim(new ClaimRequest(QUEUE, most, WORKER, LEASE).tenant(Tenant.of(tenant)))
        .jobs();
  }

  // ---- claims

  @Test
  void a_claim_for_one_tenant_returns_only_its_jobs_in_order() {
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
  void a_claim_for_a_tenant_of_a_paused_queue_is_empty() {
    add(of("acme"));
    admin.pause(QUEUE);
    assertThat(claimFor("acme", 1)).isEmpty();
    admin.resume(QUEUE);
    assertThat(claimFor("acme", 1)).hasSize(1);
  }

  @Test
  void a_due_retry_is_claimed_for_its_tenant() {
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
  void a_list_without_an_index_stops_at_its_row_limit_and_continues_from_there()
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
      assertThat(last.searchComplete()).isNull();
      // Where an index leads to them, or any will do, there is nothing to walk over.
      JobFilter pending = needles.states(Set.of(JobState.PENDING));
      assertThat(Search.page(connection, pending, 10).jobs()).hasSize(2);
      assertThat(Search.page(connection, JobFilter.ALL.limit(31), 10).jobs()).hasSize(31);
    }
    assertThat(ids(needles)).containsExactly(old, oldest);
  }

  @Test
  void a_search_continues_while_it_has_time() {
    JobId needle = add(Job.of("needle"));
    for (int i = 0; i < ContentSearch.BATCH + 10; i += 1_000) {
      queue.enqueue(jobs(1_000));
    }
    JobFilter filter = JobFilter.ALL.text("needle");
    assertThat(ids(filter)).containsExactly(needle);
    JobPage page = queries.page(filter);
    // On a slow machine its time may be over before.
    while (page.jobs().isEmpty() && page.next() != null) {
      page = queries.page(filter.before(page.next()));
    }
    assertThat(page.jobs()).extracting(JobStatus::id).containsExactly(needle);
  }

  @Test
  void a_search_stops_at_its_time_limit_reports_that_and_continues_from_there()
      throws SQLException {
    JobId needle = add(Job.of("needle"));
    for (int i = 0; i < ContentSearch.BATCH + 10; i += 1_000) {
      queue.enqueue(jobs(1_000));
    }
    JobFilter filter = JobFilter.ALL.text("needle");
    try (Connection connection = db.connection()) {
      JobPage first = searched(connection, filter);
      assertThat(first.jobs()).isEmpty();
      assertThat(first.searchComplete()).isFalse();
      JobPage second = searched(connection, filter.before(first.next()));
      assertThat(second.jobs()).extracting(JobStatus::id).containsExactly(needle);
      assertThat(second.searchComplete()).isTrue();
      assertThat(second.next()).isNull();
      // The same where no index leads to the jobs of the filter.
      JobPage ofKind = searched(connection, filter.kind("needle"));
      assertThat(ofKind.jobs()).isEmpty();
      assertThat(ofKind.next()).isEqualTo(first.next());
    }
  }

  private static JobPage searched(Connection connection, JobFilter filter) throws SQLException {
    return Search.searched(connection, filter, Duration.ZERO, JobReader.Detail.NONE);
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
  void a_search_skips_payloads_that_are_too_large_and_reports_that() {
    // Not to be compressed, or it would be small.
    StringBuilder noise = new StringBuilder();
    java.util.Random random = new java.util.Random(7);
    while (noise.length() < 2 * ContentSql.LARGEST_PAYLOAD) {
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
    assertThat(admin.queues(Tenant.ANY))
        .extracting(QueueStatus::name)
        .containsExactly("a", "b", "c");
    List<QueueStatus> own = admin.queues(Tenant.of("acme"));
    assertThat(own).extracting(QueueStatus::name).containsExactly("a");
    assertThat(own.getFirst().due()).isEqualTo(2);
    assertThat(own.getFirst().delayed()).isEqualTo(1);
    assertThat(queries.statistics(Tenant.of("acme")).byState()).containsEntry(JobState.PENDING, 3L);
    assertThat(queries.statistics(Tenant.of("third")).rows()).isEmpty();
    assertThat(queries.statistics(Tenant.ANY).byState()).containsEntry(JobState.PENDING, 5L);
  }

  @Test
  void workers_are_listed_from_the_jobs_they_run() {
    add(of("acme").queue("a"));
    add(of("acme").queue("b"));
    add(of("other").queue("a"));
    queue.claim(new ClaimRequest("a", 2, "w1", LEASE));
    queue.claim(new ClaimRequest("b", 1, "w1", LEASE));
    assertThat(opened.workers().readings().fleet(Tenant.ANY).all()).hasSize(1);
    WorkerView worker = opened.workers().readings().fleet(Tenant.of("acme")).all().getFirst();
    assertThat(worker.workerId()).isEqualTo("w1");
    assertThat(worker.runningJobs()).isEqualTo(2);
    assertThat(worker.queues()).containsExactly("a", "b");
    assertThat(worker.lastHeartbeat()).isAfterOrEqualTo(worker.oldestJobStartedAt());
    assertThat(opened.workers().readings().fleet(Tenant.of("third")).all()).isEmpty();
  }

  @Test
  void warnings_count_recent_failures_and_expired_leases_that_were_not_reaped() {
    assertThat(queries.warnings(Tenant.ANY, Duration.ZERO))
        .isEqualTo(new Warnings(0, 0, 0, 0, List.of(), List.of()));
    queue.settle(fail(addAndClaim(of("acme").maxAttempts(1)), HOPELESS));
    expire(addAndClaim(of("other")));
    assertThat(queries.warnings(Tenant.ANY, Duration.ZERO))
        .isEqualTo(new Warnings(1, 0, 1, 0, List.of(), List.of()));
    assertThat(queries.warnings(Tenant.of("acme"), Duration.ZERO))
        .isEqualTo(new Warnings(1, 0, 0, 0, List.of(), List.of()));
    assertThat(queries.warnings(Tenant.ANY, Duration.ofDays(1)))
        .isEqualTo(new Warnings(1, 0, 0, 0, List.of(), List.of()));
  }

  @Test
  void a_lease_is_overdue_once_it_could_be_reaped_for_as_long_as_it_lasted() {
    Lease lease = addAndClaim(of("acme"));
    String tenSecondsAgo = "lease_expires_at = now() - interval '10 s', heartbeat_at = now() - ";
    set(lease.job(), tenSecondsAgo + "interval '40 s'");
    assertThat(queries.warnings(Tenant.ANY, Duration.ZERO).overdue()).isZero();
    set(lease.job(), tenSecondsAgo + "interval '10.001 s'");
    assertThat(queries.warnings(Tenant.ANY, Duration.ZERO).overdue()).isEqualTo(1);
    // No reaper has run yet within its wait.
    assertThat(queries.warnings(Tenant.ANY, Duration.ofSeconds(60)).overdue()).isZero();
  }

  // ---- operating

  @Test
  void cancels_and_retries_skip_jobs_of_other_tenants() {
    JobId own = add(of("acme"));
    JobId foreign = add(of("other"));
    List<JobId> both = List.of(own, foreign);
    assertThat(queue.cancel(both, false, "x", Tenant.of("acme")))
        .extracting(Cancellation::job)
        .containsExactly(own);
    assertThat(state(foreign)).isEqualTo(JobState.PENDING);
    queue.cancel(List.of(foreign), false, "x", Tenant.ANY);
    assertThat(queue.retry(both, Tenant.of("acme"))).containsExactly(own);
    assertThat(state(foreign)).isEqualTo(JobState.CANCELLED);
  }

  // ---- dispatch

  @Test
  void a_queue_has_one_push_target_until_it_is_removed() {
    String secret = "a-secret-of-some-length";
    admin.dispatch(new Dispatch("a", URI.create("http://one.example/"), secret, 3));
    admin.dispatch(new Dispatch("a", URI.create("http://two.example/"), secret, 4));
    assertThat(admin.dispatches())
        .containsExactly(new Dispatch("a", URI.create("http://two.example/"), secret, 4));
    assertThat(admin.dispatches().toString()).doesNotContain(secret);
    assertThat(admin.queues(Tenant.ANY)).extracting(QueueStatus::name).containsExactly("a");
    assertThat(admin.stopDispatch("a")).isTrue();
    assertThat(admin.stopDispatch("a")).isFalse();
    assertThat(admin.dispatches()).isEmpty();
    assertRefused(
        Refusal.BAD_KEY, () -> new Dispatch("a", URI.create("http://one.example/"), "short", 1));
    assertRefused(
        Refusal.BAD_LIMIT, () -> new Dispatch("a", URI.create("http://one.example/"), secret, 0));
  }

  @Test
  void the_versions_of_schema_and_server_are_returned() {
    assertThat(opened.version().schema()).isEqualTo(Schema.VERSION);
    assertThat(opened.version().server()).isNotBlank();
  }

  // ---- runs and parts of ids

  @Test
  void pages_of_runs_lead_from_one_run_of_the_tenant_to_the_next() {
    List<JobId> own = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      JobId run = JobId.next();
      add(of("acme").run(run, "a"));
      own.addFirst(run);
      add(of("other").run(JobId.next(), "b"));
    }
    RunPage first = queries.runs(Tenant.of("acme"), null, 2);
    assertThat(first.runs()).extracting(RunSummary::id).isEqualTo(own.subList(0, 2));
    assertThat(first.next()).isNotNull();
    RunPage last = queries.runs(Tenant.of("acme"), first.next(), 2);
    assertThat(last.runs()).extracting(RunSummary::id).isEqualTo(own.subList(2, 3));
    assertThat(last.next()).isNull();
    assertThat(queries.runs(Tenant.of("third"), null, 1)).isEqualTo(new RunPage(List.of(), null));
    assertThat(queries.runs(Tenant.ANY, null, 10).runs()).hasSize(6);
  }

  @Test
  void a_part_of_an_id_finds_one_job_only_where_no_other_of_the_tenant_can_be_meant() {
    JobId older = JobId.parse("00000000-0000-7000-8000-000000000001");
    JobId newer = JobId.parse("00000000-0000-7000-8000-ffffffffffff");
    add(of("acme").id(older));
    add(of("acme").id(newer));
    othersLike("00000000-0000-7000-8000-", 2_000);
    assertThat(queries.idsLike("00000000", Tenant.of("acme")).ids()).containsExactly(newer, older);
    othersLike("00000000-0000-7000-9000-", JobIdSearch.SOME);
    assertRefused(Refusal.BAD_ID, () -> queries.idsLike("00000000", Tenant.of("acme")));
    assertThat(queries.idsLike("00000000-0000-7000-8000-f", Tenant.of("acme")).ids())
        .containsExactly(newer);
    assertThat(queries.idsLike("00000000", Tenant.ANY).ids()).hasSize(JobIdMatches.MOST);
  }

  private static void othersLike(String beginning, int count) {
    db.sql(
        """
        INSERT INTO holdfast.job (id, queue, kind, tenant, state, run_at, created_at, max_attempts,
               max_crashes, priority, workspace, run_id, run_key, payload)
        SELECT id, 'elsewhere', 'x', 'other', 'PENDING', now(), now(), 3, 2, 5, 'w', id, 'x', '{}'
          FROM (SELECT (? || lpad(to_hex(n), 12, '0'))::uuid AS id
                  FROM generate_series(2, ? + 1) AS n) AS numbered
        """,
        beginning,
        count);
  }
}
