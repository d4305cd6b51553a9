package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.queue.wait.EndedJobs;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** JSON is limited by its expanded size, and an unreadable row blocks no other job. */
class UnreadablePayloadTest extends QueueFixture {
  /** 81 kB as sent, but expanded longer than the longest text of PostgreSQL. */
  private static final int BEYOND_A_TEXT = 9_000;

  /** Larger than a claim reads, and quick to create. */
  private static final String TOO_LARGE =
      "(SELECT jsonb_agg('1e131071'::jsonb) FROM generate_series(1, 600))";

  /** Neither array nor object: the server refuses to convert it, without needing a gigabyte. */
  private static final String DAMAGED = "'\\x01000000'::bytea::jsonb";

  @BeforeAll
  static void allowDamage() {
    db.sql("CREATE CAST (bytea AS jsonb) WITHOUT FUNCTION");
  }

  private static Json numbers(int count) {
    return new Json("[" + "1e-16383,".repeat(8 * count - 1) + "1e-16383]");
  }

  /** Writes a payload into the row that no call would accept. */
  private void poison(JobId job, String payload) {
    set(job, "payload = " + payload);
  }

  @Test
  void numbers_whose_expanded_text_is_too_long_are_refused_by_every_call() throws Exception {
    Job job = Job.of("test", numbers(BEYOND_A_TEXT));
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(job));
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(List.of(job, job())));
    try (var connection = db.dataSource().getConnection()) {
      assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(connection, List.of(job)));
    }
    assertRefused(
        Refusal.PAYLOAD_TOO_LARGE,
        () -> admin.schedule(Schedule.of("s", "0 0 * * *", ZoneId.of("UTC"), job)));
    assertRefused(
        Refusal.RESULT_TOO_LARGE,
        () -> queue.settle(new Settlement.Succeed(running(), numbers(BEYOND_A_TEXT))));
  }

  @Test
  void a_batch_of_jobs_is_limited_by_the_size_of_their_expanded_payloads() {
    List<Job> jobs = IntStream.range(0, 90).mapToObj(i -> Job.of("test", numbers(7))).toList();
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(jobs));
  }

  @Test
  void an_unreadable_payload_fails_its_job_and_the_others_are_claimed() {
    JobId before = add(job());
    JobId bad = add(job());
    JobId after = add(Job.of("test", new Json("{\"n\": 1}")));
    poison(bad, DAMAGED);

    List<LeasedJob> claimed = claim(10);

    assertThat(claimed).extracting(LeasedJob::id).containsExactly(before, after);
    assertThat(claimed.getLast().payload().text()).isEqualTo("{\"n\": 1}");
    assertThat(state(bad)).isEqualTo(JobState.FAILED);
    assertThat(failure(bad).code()).isEqualTo(Failure.PAYLOAD_UNREADABLE);
    assertThat(failure(bad).retryable()).isFalse();
    assertThat(events(bad)).containsExactly("created", "processing", "failed");
    // It would break lists too, so it is moved to its own table.
    assertThat(queries.list(JobFilter.ALL)).hasSize(3);
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.unreadable_payload WHERE job_id = ? AND payload IS NOT NULL",
                bad.value()))
        .isEqualTo(1);
    // Without its payload it would be another job.
    assertThat(queue.retry(List.of(bad), Tenant.ANY)).isEmpty();
  }

  @Test
  void what_waits_for_an_unreadable_job_is_freed_at_once() {
    JobId bad = add(job());
    JobId after = add(job().queue("other").dependsOn(bad));
    poison(bad, DAMAGED);
    assertThat(claim(1)).isEmpty();
    await().until(() -> state(after) == JobState.CANCELLED);
  }

  @Test
  void lists_omit_payloads_that_would_expand_too_far() {
    JobId good = add(Job.of("test", new Json("{\"n\": 1}")));
    JobId bad = add(job());
    poison(bad, "(SELECT jsonb_agg('1e131071'::jsonb) FROM generate_series(1, 9000))");
    for (List<JobStatus> listed : allLists()) {
      assertThat(listed).extracting(JobStatus::id).containsExactly(bad, good);
      assertThat(listed.getFirst().omitted()).containsExactly(JobStatus.PAYLOAD);
      assertThat(listed.getLast().payload().text()).isEqualTo("{\"n\": 1}");
    }
    assertThat(status(bad).omitted()).containsExactly(JobStatus.PAYLOAD);
    JobPage found = queries.page(JobFilter.ALL.text("\"n\""));
    assertThat(found.jobs()).extracting(JobStatus::id).containsExactly(good);
    assertThat(found.searchComplete()).isFalse();
  }

  @Test
  void lists_omit_results_that_would_expand_too_far() {
    Lease lease = running();
    queue.settle(succeed(lease));
    set(
        lease.job(),
        "result = (SELECT jsonb_agg('-1e-16383'::jsonb) FROM generate_series(1, 9000))");
    for (List<JobStatus> listed : allLists()) {
      assertThat(listed.getFirst().omitted()).containsExactly(JobStatus.RESULT);
    }
  }

  @Test
  void a_payload_of_long_numbers_within_the_limit_is_shown_by_find_only() {
    JobId job = add(Job.of("test", numbers(7)));
    assertThat(status(job).payload().text()).hasSizeGreaterThan(900_000);
    assertThat(status(job).omitted()).isEmpty();
    assertThat(queries.page(JobFilter.ALL).jobs().getFirst().omitted())
        .containsExactly(JobStatus.PAYLOAD);
  }

  @Test
  void lists_with_a_damaged_payload_omit_all_payloads() {
    JobId good = add(job());
    JobId bad = add(Job.of("other"));
    poison(bad, DAMAGED);
    for (List<JobStatus> listed : allLists()) {
      assertThat(listed).extracting(JobStatus::id).containsExactly(bad, good);
      assertThat(listed).allSatisfy(job -> assertThat(job.omitted()).contains(JobStatus.PAYLOAD));
    }
    assertThat(status(bad).omitted()).contains(JobStatus.PAYLOAD);
    assertThat(status(good).omitted()).isEmpty();
    JobPage found = queries.page(JobFilter.ALL.text("TEST"));
    assertThat(found.jobs()).extracting(JobStatus::id).containsExactly(good);
    assertThat(found.searchComplete()).isFalse();
  }

  private List<List<JobStatus>> allLists() {
    return List.of(
        queries.list(JobFilter.ALL),
        queries.page(JobFilter.ALL).jobs(),
        queries.page(JobFilter.ALL.queue(QUEUE)).jobs());
  }

  @Test
  void a_payload_too_large_to_be_sent_fails_its_job() {
    JobId bad = add(job());
    JobId good = add(job());
    poison(bad, TOO_LARGE);
    assertThat(apart("54000", 10)).extracting(LeasedJob::id).containsExactly(good);
    assertThat(failure(bad).code()).isEqualTo(Failure.PAYLOAD_UNREADABLE);
    assertThat(failure(bad).message()).contains("bytes");
  }

  @Test
  void when_all_claimed_jobs_are_unreadable_the_next_ones_are_claimed() {
    JobId bad = add(job());
    JobId good = add(job());
    poison(bad, DAMAGED);
    assertThat(apart("XX000", 1)).extracting(LeasedJob::id).containsExactly(good);
    assertThat(state(bad)).isEqualTo(JobState.FAILED);
  }

  @Test
  void jobs_with_concurrency_keys_are_read_one_by_one_too() {
    JobId bad = add(job().concurrencyKey("k", 9));
    JobId good = add(job().concurrencyKey("k", 9));
    poison(bad, DAMAGED);
    List<LeasedJob> claimed = apart("57014", 10);
    assertThat(claimed).extracting(LeasedJob::id).containsExactly(good);
    assertThat(state(bad)).isEqualTo(JobState.FAILED);
  }

  @Test
  void an_unreadable_job_does_not_undo_claims_before_it() {
    JobId good = add(job().concurrencyKey("a", 1));
    JobId bad = add(job().concurrencyKey("b", 1));
    poison(bad, DAMAGED);
    ClaimByRules byRules = new ClaimByRules(1);
    ClaimRequest request = new ClaimRequest(QUEUE, 10, WORKER, LEASE);
    assertThat(byRules.take(new MaterializedJobs(database()), request, true).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(good);
    assertThat(state(bad)).isEqualTo(JobState.PENDING);
    assertThatThrownBy(() -> byRules.take(new MaterializedJobs(database()), request, true))
        .isInstanceOfSatisfying(
            DatabaseException.class, error -> assertThat(UnreadableJobs.mayHelp(error)).isTrue());
  }

  @Test
  void a_job_that_is_not_read_within_its_lease_is_pending_without_a_failure() {
    JobId job = add(job());
    UnreadableJobs apart =
        new UnreadableJobs(database(), new MaterializedJobs(database()), BACKOFF, nothingFreed());
    List<LeasedJob> all = claim(1);
    int[] calls = new int[1];
    List<LeasedJob> read =
        apart
            .ifNeeded(
                new ClaimRequest(QUEUE, 1, WORKER, Duration.ofNanos(1)),
                (request, payloads) ->
                    failing(
                        "54000",
                        payloads,
                        () -> new Taken(calls[0]++ == 0 ? all : List.of(), false, false)))
            .jobs();
    assertThat(read).isEmpty();
    assertThat(state(job)).isEqualTo(JobState.PENDING);
    assertThat(status(job).failures()).isZero();
  }

  @Test
  void an_unreachable_server_fails_the_claim_and_no_job() {
    add(job());
    assertThatThrownBy(() -> apart("08006", 1)).isInstanceOf(DatabaseException.class);
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  /** A claim that fails with this state if it reads payloads. */
  private List<LeasedJob> apart(String state, int jobs) {
    Database database = database();
    return new UnreadableJobs(database, new MaterializedJobs(database), BACKOFF, nothingFreed())
        .ifNeeded(
            new ClaimRequest(QUEUE, jobs, WORKER, LEASE),
            (request, payloads) ->
                failing(
                    state,
                    payloads,
                    () ->
                        new ClaimByRules().take(new MaterializedJobs(database), request, payloads)))
        .jobs();
  }

  private static Taken failing(String state, boolean payloads, Supplier<Taken> claim) {
    if (payloads) {
      throw SqlErrors.thrown("claim", new SQLException("test", state));
    }
    return claim.get();
  }

  private EndedJobs nothingFreed() {
    return new EndedJobs(database(), opened.notifier(), false);
  }

  private static Database database() {
    return Database.pooled(db.dataSource(), StatementObserver.NONE, 4);
  }
}
