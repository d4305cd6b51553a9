package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobPage;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.jdbc.StatementObserver;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** JSON is bounded by what it becomes, and a row that cannot be read stops nobody else. */
class UnreadableTest extends QueueFixture {
  /** 81 kB as it is sent, more than PostgreSQL makes a text of once it is written out. */
  private static final int BEYOND_A_TEXT = 9_000;

  /** Beyond what a claim reads, and made in a moment. */
  private static final String TOO_LARGE =
      "(SELECT jsonb_agg('1e131071'::jsonb) FROM generate_series(1, 600))";

  /** Neither array nor object: the server refuses to write it out, and needs no gigabyte for it. */
  private static final String DAMAGED = "'\\x01000000'::bytea::jsonb";

  @BeforeAll
  static void allowDamage() {
    db.sql("CREATE CAST (bytea AS jsonb) WITHOUT FUNCTION");
  }

  private static Json numbers(int count) {
    return new Json("[" + "1e131071,".repeat(count - 1) + "1e131071]");
  }

  /** Puts into the row what comes in by no door. */
  private void poison(JobId job, String payload) {
    set(job, "payload = " + payload);
  }

  @Test
  void numbers_that_become_too_long_are_refused_at_every_door() throws Exception {
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
  void many_jobs_at_once_are_bounded_by_what_they_become() {
    List<Job> jobs = IntStream.range(0, 90).mapToObj(i -> Job.of("test", numbers(7))).toList();
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> queue.enqueue(jobs));
  }

  @Test
  void a_payload_that_cannot_be_read_fails_its_job_and_the_others_are_claimed() {
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
    // Lists would break on it too; what it was is kept.
    assertThat(queries.list(JobFilter.ALL)).hasSize(3);
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.unreadable_payload WHERE job_id = ? AND payload IS NOT NULL",
                bad.value()))
        .isEqualTo(1);
    // Without its payload it would be another job.
    assertThat(queue.retry(List.of(bad))).isEmpty();
  }

  @Test
  void lists_leave_out_what_would_become_too_long_without_writing_it_out() {
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
  void long_results_are_left_out_likewise() {
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
  void a_long_number_that_may_come_in_is_shown() {
    JobId job = add(Job.of("test", numbers(7)));
    assertThat(status(job).payload().text()).hasSizeGreaterThan(900_000);
    assertThat(status(job).omitted()).isEmpty();
    assertThat(queries.page(JobFilter.ALL).jobs().getFirst().omitted())
        .containsExactly(JobStatus.PAYLOAD);
  }

  @Test
  void lists_with_a_damaged_payload_leave_all_of_them_out() {
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
  void a_payload_beyond_all_measure_is_not_sent() {
    JobId bad = add(job());
    JobId good = add(job());
    poison(bad, TOO_LARGE);
    assertThat(apart("54000", 10)).extracting(LeasedJob::id).containsExactly(good);
    assertThat(failure(bad).code()).isEqualTo(Failure.PAYLOAD_UNREADABLE);
    assertThat(failure(bad).message()).contains("bytes");
  }

  @Test
  void when_all_that_was_claimed_is_unreadable_the_next_ones_are() {
    JobId bad = add(job());
    JobId good = add(job());
    poison(bad, DAMAGED);
    assertThat(apart("XX000", 1)).extracting(LeasedJob::id).containsExactly(good);
    assertThat(state(bad)).isEqualTo(JobState.FAILED);
  }

  @Test
  void jobs_of_a_queue_with_rules_are_read_apart_as_well() {
    JobId bad = add(job().concurrencyKey("k", 9));
    JobId good = add(job().concurrencyKey("k", 9));
    poison(bad, DAMAGED);
    List<LeasedJob> claimed = apart("57014", 10);
    assertThat(claimed).extracting(LeasedJob::id).containsExactly(good);
    assertThat(state(bad)).isEqualTo(JobState.FAILED);
  }

  @Test
  void what_is_not_read_in_time_goes_back_unharmed() {
    JobId job = add(job());
    UnreadableJobs apart = new UnreadableJobs(database(), BACKOFF);
    List<LeasedJob> all = claim(1);
    int[] calls = new int[1];
    List<LeasedJob> read =
        apart.ifNeeded(
            new ClaimRequest(QUEUE, 1, WORKER, Duration.ofNanos(1), null),
            request -> failing("54000", request, () -> calls[0]++ == 0 ? all : List.of()));
    assertThat(read).isEmpty();
    assertThat(state(job)).isEqualTo(JobState.PENDING);
    assertThat(status(job).failures()).isZero();
  }

  @Test
  void a_server_that_is_away_is_no_reason_to_look_at_rows() {
    add(job());
    assertThatThrownBy(() -> apart("08006", 1)).isInstanceOf(DatabaseException.class);
    assertThat(count(JobState.PENDING)).isEqualTo(1);
  }

  /** A claim that fails with this state if it reads payloads. */
  private List<LeasedJob> apart(String state, int jobs) {
    Database database = database();
    return new UnreadableJobs(database, BACKOFF)
        .ifNeeded(
            new ClaimRequest(QUEUE, jobs, WORKER, LEASE, null),
            request ->
                failing(
                    state,
                    request,
                    () ->
                        database.transactOnce(
                            "claim", c -> new ClaimByRules().take(c, request).jobs())));
  }

  private static List<LeasedJob> failing(
      String state, ClaimRequest request, Supplier<List<LeasedJob>> claim) {
    if (request.payloads()) {
      throw SqlErrors.thrown("claim", new SQLException("test", state));
    }
    return claim.get();
  }

  private static Database database() {
    return Database.pooled(db.dataSource(), StatementObserver.NONE, 4);
  }
}
