package dev.holdfast.queue.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.search.RunSummary;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever ids clients choose, jobs are ordered and selected by when they were created. */
class CreationOrderTest extends QueueFixture {
  private static final JobId FUTURE = JobId.parse("ffffffff-ffff-7fff-bfff-ffffffffffff");
  private static final JobId PAST = JobId.parse("00000000-0000-7000-8000-000000000000");

  /** The job with the greatest id first, then one of the usual ids, then one with the least. */
  private List<JobId> oldestFirst() {
    return List.of(add(job().id(FUTURE)), add(job()), add(job().id(PAST)));
  }

  private List<JobId> ids(JobFilter filter) {
    return queries.list(filter).stream().map(JobStatus::id).toList();
  }

  private List<JobId> throughPages(JobFilter filter) {
    List<JobId> ids = new ArrayList<>();
    JobPage page = queries.page(filter.limit(1));
    while (page.next() != null) {
      page.jobs().forEach(job -> ids.add(job.id()));
      page = queries.page(filter.limit(1).resumed(page.next()));
    }
    page.jobs().forEach(job -> ids.add(job.id()));
    return ids;
  }

  @Test
  void lists_and_their_pages_are_in_the_order_of_creation() {
    List<JobId> oldestFirst = oldestFirst();
    List<JobFilter> filters =
        List.of(
            JobFilter.ALL,
            JobFilter.ALL.queue(QUEUE),
            JobFilter.ALL.text("test"),
            JobFilter.ALL.states(Set.of(JobState.PENDING)));
    for (JobFilter filter : filters) {
      assertThat(ids(filter)).as("%s", filter).isEqualTo(oldestFirst.reversed());
      assertThat(throughPages(filter)).as("%s", filter).isEqualTo(oldestFirst.reversed());
      assertThat(throughPages(filter.oldestFirst(true))).as("%s", filter).isEqualTo(oldestFirst);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " kind:test", " state:pending", " test"})
  void an_age_is_counted_from_the_creation(String more) {
    oldestFirst();
    set(FUTURE, "created_at = now() - interval '8 days'");
    Instant now = queries.now();
    assertThat(ids(SearchSyntax.parse("age:>7d" + more, now))).containsExactly(FUTURE);
    assertThat(ids(SearchSyntax.parse("age:<7d" + more, now))).hasSize(2).contains(PAST);
    JobFilter old = SearchSyntax.parse("age:>7d" + more, now);
    assertThat(queries.count(old, 10).count()).isEqualTo(1);
    assertThat(queries.counts(old).rows())
        .singleElement()
        .satisfies(r -> assertThat(r.jobs()).isOne());
  }

  @Test
  void jobs_of_one_transaction_are_in_the_order_of_their_ids_and_no_page_skips_one() {
    List<Job> jobs = jobs(5);
    queue.enqueue(jobs);
    assertThat(throughPages(JobFilter.ALL.oldestFirst(true)))
        .isEqualTo(jobs.stream().map(Job::id).toList());
  }

  @Test
  void the_newest_failures_are_those_created_last() {
    for (JobId id : oldestFirst()) {
      set(id, "state = 'FAILED', finished_at = now()");
    }
    JobFilter failed = JobFilter.ALL.states(Set.of(JobState.FAILED)).limit(1);
    assertThat(ids(failed)).containsExactly(PAST);
    assertThat(ids(failed.oldestFirst(true))).containsExactly(FUTURE);
    FailureGroups groups = queries.failures(Tenant.ANY, 10);
    assertThat(groups.searched()).isEqualTo(3);
  }

  @Test
  void a_new_job_is_seen_as_new_and_an_old_one_is_not() {
    List<JobId> jobs = oldestFirst();
    set(FUTURE, "created_at = now() - interval '1 hour'");
    Instant since = queries.now().minus(Duration.ofMinutes(1));
    assertThat(queries.changes(new ChangedJob(since, List.of(), Tenant.ANY, 10)))
        .extracting(JobBrief::id)
        .containsExactlyElementsOf(jobs.subList(1, 3));
  }

  @Test
  void history_begins_with_the_job_that_was_created_first() {
    add(job().id(PAST));
    add(job().id(FUTURE));
    set(FUTURE, "created_at = now() - interval '1 hour'");
    maintenance.sumUpHistory();
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.history_cursor"
                    + " WHERE known_since <= now() - interval '59 min'"))
        .isEqualTo(1);
  }

  // ---- runs

  @Test
  void a_run_of_several_tenants_is_listed_once() {
    JobId shared = JobId.next();
    JobId other = JobId.next();
    add(Job.of("test").owner("acme", "w").run(shared, "x"));
    add(Job.of("test").owner("globex", "w").run(other, "x"));
    add(Job.of("test").owner("initech", "w").run(shared, "x"));
    for (int most = 1; most <= 3; most++) {
      assertThat(runs(null, most)).containsExactly(shared, other);
      assertThat(runs("acme", most)).containsExactly(shared);
    }
  }

  private List<JobId> runs(@Nullable String tenant, int most) {
    List<JobId> runs = new ArrayList<>();
    RunPage page = queries.runs(Tenant.of(tenant), null, most);
    page.runs().forEach(run -> runs.add(run.id()));
    while (page.next() != null) {
      page = queries.runs(Tenant.of(tenant), page.next(), most);
      page.runs().forEach(run -> runs.add(run.id()));
    }
    return runs;
  }

  @Test
  void runs_are_listed_by_their_newest_jobs_whatever_their_ids() {
    add(job().run(FUTURE, "a"));
    JobId middle = JobId.next();
    add(job().run(middle, "a"));
    add(job().run(PAST, "a"));
    for (int most = 1; most <= 4; most++) {
      assertThat(runs(null, most)).containsExactly(PAST, middle, FUTURE);
      assertThat(runs("default", most)).containsExactly(PAST, middle, FUTURE);
    }
    add(job().run(middle, "b"));
    for (int most = 1; most <= 4; most++) {
      assertThat(runs(null, most)).containsExactly(middle, PAST, FUTURE);
      assertThat(runs("default", most)).containsExactly(middle, PAST, FUTURE);
    }
  }

  @Test
  void a_run_is_named_after_the_job_that_was_created_first() {
    JobId run = JobId.next();
    add(Job.of("first").id(FUTURE).run(run, "a"));
    add(Job.of("second").id(PAST).run(run, "b"));
    assertThat(queries.runs(Tenant.ANY, null, 1).runs())
        .extracting(RunSummary::kind)
        .containsExactly("first");
    assertThat(queries.run(run, Tenant.ANY).orElseThrow().jobs())
        .extracting(node -> node.id())
        .containsExactly(FUTURE, PAST);
  }

  @Test
  void runs_behind_a_large_one_are_found() {
    JobId early = JobId.next();
    add(job().run(early, "a"));
    JobId large = JobId.next();
    for (int i = 0; i < 11; i++) {
      queue.enqueue(IntStream.range(0, 1_000).mapToObj(n -> job().run(large, "x" + n)).toList());
    }
    JobId late = JobId.next();
    add(job().run(late, "a"));
    assertThat(runs(null, 2)).containsExactly(late, large, early);
    assertThat(runs("default", 50)).containsExactly(late, large, early);
  }

  @Test
  void a_cursor_is_read_as_it_was_written() {
    add(job().id(FUTURE));
    JobCursor cursor = JobCursor.of(status(FUTURE));
    assertThat(JobCursor.parse(cursor.toString())).isEqualTo(cursor);
    assertThat(cursor.following()).isGreaterThan(cursor);
    assertThat(cursor.following().preceding()).isEqualTo(cursor);
    JobCursor first = JobCursor.at(cursor.createdAt());
    assertThat(first.preceding()).isLessThan(first);
    assertThat(first.preceding().following()).isEqualTo(first);
  }
}
