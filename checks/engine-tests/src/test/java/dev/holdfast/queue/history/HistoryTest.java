package dev.holdfast.queue.history;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.JobHistory.Percentiles;
import dev.holdfast.model.ops.JobHistory.Point;
import dev.holdfast.model.ops.JobHistory.Tally;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Maintenance;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HistoryTest extends QueueFixture {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration DAY = Duration.ofDays(1);

  private static final String ENDED =
      """
      INSERT INTO holdfast.job (id, queue, kind, tenant, state, run_at, created_at, started_at,
             finished_at, attempt, max_attempts, max_crashes, priority, event_count,
             started_event_number, workspace, run_id, run_key, payload)
      SELECT gen_random_uuid(), ?, ?, 'default', ?, started - ? * interval '1 ms',
             started - ? * interval '1 ms', started, at, 1, 3, 2, 5, 3, 2, 'default',
             gen_random_uuid(), 'k', '{}'
        FROM (SELECT at, at - ? * interval '1 ms' AS started
                FROM (SELECT now() - ? * interval '1 second' AS at) AS ended) AS times
      """;

  private static void ended(JobState state, String kind, int waitMs, int runMs, int secondsAgo) {
    db.sql(ENDED, QUEUE, kind, state.name(), waitMs, waitMs, runMs, secondsAgo);
  }

  private static void succeeded(int count, int secondsAgo) {
    for (int i = 0; i < count; i++) {
      ended(JobState.SUCCEEDED, "mail", 20, 100, secondsAgo);
    }
  }

  /** As if it had been summed up to so many minutes ago. */
  private static void cursor(int minutesAgo) {
    db.sql("DELETE FROM holdfast.history_cursor");
    db.sql(
        "INSERT INTO holdfast.history_cursor (known_since, summed_until)"
            + " SELECT at, at FROM (SELECT date_trunc('minute', now()) - ? * interval '1 minute' AS at)"
            + " AS cursor",
        minutesAgo);
  }

  /** Sums up all that can be. Transactions of other databases of the server may hold it up. */
  private void sumUp() {
    Instant until = queries.now().minusSeconds(91);
    await()
        .atMost(SOON)
        .until(
            () -> {
              while (maintenance.sumUpHistory()) {
                // The next piece.
              }
              return summedUntil().isAfter(until);
            });
  }

  private static Instant summedUntil() {
    return Instant.parse(
        db.queryOne(
            String.class,
            "SELECT to_char(summed_until AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
                + " FROM holdfast.history_cursor"));
  }

  private JobHistory history(Duration span) {
    return queries.history(new JobHistory.Query(span, null, null, Tenant.ANY));
  }

  private static long stored(int stepSeconds) {
    return db.count(
        "SELECT coalesce(sum(succeeded), 0) FROM holdfast.history WHERE step_seconds = "
            + stepSeconds);
  }

  @Test
  void history_includes_summed_up_and_recent_jobs() {
    succeeded(3, 600);
    ended(JobState.FAILED, "mail", 0, 0, 600);
    ended(JobState.CANCELLED, "report", 0, 0, 600);
    succeeded(2, 5);
    add(job());
    cursor(30);
    sumUp();
    assertThat(stored(60)).isEqualTo(3);
    JobHistory history = history(HOUR);
    Tally total = history.total();
    assertThat(total.enqueued()).isEqualTo(8);
    assertThat(total.succeeded()).isEqualTo(5);
    assertThat(total.failed()).isEqualTo(1);
    assertThat(total.cancelled()).isEqualTo(1);
    assertThat(history.kinds())
        .extracting(JobHistory.OfKind::kind)
        .containsExactly("mail", "report", "test");
    assertThat(history.step()).isEqualTo(Duration.ofMinutes(1));
    assertThat(history.points().stream().map(Point::tally).filter(Objects::nonNull))
        .extracting(Tally::succeeded)
        .contains(3L)
        .satisfies(each -> assertThat(each.stream().mapToLong(Long::longValue).sum()).isEqualTo(5));
    JobHistory reports = queries.history(new JobHistory.Query(HOUR, QUEUE, "report", Tenant.ANY));
    assertThat(reports.total().cancelled()).isEqualTo(1);
    assertThat(reports.total().succeeded()).isZero();
    assertThat(queries.history(new JobHistory.Query(HOUR, "other", null, Tenant.ANY)).kinds())
        .isEmpty();
    assertThat(queries.history(new JobHistory.Query(HOUR, null, null, Tenant.of("other"))).kinds())
        .isEmpty();
    assertThatThrownBy(() -> new JobHistory.Query(Duration.ofDays(8), null, null, Tenant.ANY))
        .hasMessageContaining("7 days");
  }

  @Test
  void time_before_the_cursor_is_unknown_and_not_zero() {
    cursor(10);
    List<Point> points = history(HOUR).points();
    assertThat(points.getFirst().tally()).isNull();
    assertThat(points.get(points.size() - 9).tally()).isNotNull();
    assertThat(points.stream().filter(each -> each.tally() == null)).hasSizeBetween(48, 52);
  }

  @Test
  void time_not_summed_up_is_unknown_except_for_the_latest() {
    cursor(50);
    succeeded(1, 40 * 60);
    succeeded(1, 5 * 60);
    JobHistory history = history(HOUR);
    assertThat(history.total().succeeded()).isEqualTo(1);
    assertThat(history.points().stream().filter(each -> each.tally() == null))
        .hasSizeBetween(43, 48);
  }

  @Test
  void the_first_run_begins_with_the_oldest_job() {
    succeeded(1, 3 * 3600);
    sumUp();
    JobHistory history = history(Duration.ofHours(6));
    assertThat(history.total().succeeded()).isEqualTo(1);
    assertThat(history.knownSince())
        .isBetween(
            queries.now().minusSeconds(3 * 3600 + 120), queries.now().minusSeconds(3 * 3600));
  }

  @Test
  void percentiles_are_within_ten_percent() {
    Random random = new Random(4711);
    List<Integer> waits = new ArrayList<>();
    List<Integer> runs = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      int wait = (int) Math.exp(random.nextGaussian() * 2 + 4);
      int run = (int) Math.exp(random.nextGaussian() * 1.5 + 6);
      waits.add(wait);
      runs.add(run);
      ended(JobState.SUCCEEDED, "mail", wait, run, 300 + i);
    }
    cursor(30);
    sumUp();
    Tally total = history(HOUR).total();
    assertRight(total.waitTime(), waits);
    assertRight(total.runTime(), runs);
    Percentiles summed = total.waitTime();
    db.sql("TRUNCATE holdfast.history, holdfast.history_cursor");
    assertThat(history(HOUR).total().waitTime()).as("of the jobs themselves").isEqualTo(summed);
  }

  private static void assertRight(@Nullable Percentiles told, List<Integer> all) {
    List<Integer> sorted = all.stream().sorted().toList();
    assertThat(told).isNotNull();
    assertNear(told.p50(), sorted.get(sorted.size() / 2 - 1));
    assertNear(told.p95(), sorted.get(sorted.size() * 95 / 100 - 1));
    assertNear(told.p99(), sorted.get(sorted.size() * 99 / 100 - 1));
  }

  private static void assertNear(Duration told, int exact) {
    assertThat((double) told.toMillis()).isCloseTo(exact, within(exact * 0.1 + 1));
  }

  @Test
  void durations_of_any_length_have_a_bucket() {
    ended(JobState.SUCCEEDED, "long", Integer.MAX_VALUE, Integer.MAX_VALUE, 5);
    ended(JobState.SUCCEEDED, "short", -3, 0, 5);
    Percentiles shortest = ofKind("short").waitTime();
    Percentiles longest = ofKind("long").runTime();
    assertThat(shortest).isEqualTo(new Percentiles(Duration.ZERO, Duration.ZERO, Duration.ZERO));
    assertThat(longest).isNotNull();
    assertThat(longest.p99().toMillis())
        .isCloseTo(Integer.MAX_VALUE, within(Integer.MAX_VALUE / 10L));
  }

  private Tally ofKind(String kind) {
    return queries.history(new JobHistory.Query(HOUR, null, kind, Tenant.ANY)).total();
  }

  @Test
  void a_job_that_commits_late_is_counted_once() throws SQLException {
    succeeded(1, 300);
    cursor(10);
    try (Connection open = db.dataSource().getConnection()) {
      open.setAutoCommit(false);
      try (PreparedStatement late = open.prepareStatement(ENDED)) {
        Object[] values = {QUEUE, "late", "SUCCEEDED", 0, 0, 0, 300};
        for (int i = 0; i < values.length; i++) {
          late.setObject(i + 1, values[i]);
        }
        late.executeUpdate();
      }
      Instant before = summedUntil();
      for (int i = 0; i < 3; i++) {
        assertThat(maintenance.sumUpHistory()).isFalse();
      }
      assertThat(summedUntil()).as("nothing is final yet").isEqualTo(before);
      open.commit();
    }
    sumUp();
    sumUp();
    assertThat(stored(60)).isEqualTo(2);
    assertThat(history(HOUR).total().succeeded()).isEqualTo(2);
  }

  @Test
  void an_open_transaction_delays_summing_up_for_a_limited_time() throws SQLException {
    succeeded(1, 1200);
    cursor(30);
    try (Connection open = db.dataSource().getConnection()) {
      open.setAutoCommit(false);
      try (PreparedStatement anything =
          open.prepareStatement("CREATE TEMP TABLE opened () ON COMMIT DROP")) {
        anything.execute();
      }
      maintenance.sumUpHistory();
      assertThat(maintenance.sumUpHistory()).isFalse();
      assertThat(stored(60)).isZero();
      db.sql("UPDATE holdfast.history_cursor SET marked_at = marked_at - interval '14 minutes'");
      assertThat(maintenance.sumUpHistory()).isFalse();
      assertThat(stored(60)).as("after 14 minutes").isZero();
      db.sql("UPDATE holdfast.history_cursor SET marked_at = marked_at - interval '1 minute'");
      maintenance.sumUpHistory();
      assertThat(stored(60)).isEqualTo(1);
      open.rollback();
    }
  }

  @ParameterizedTest
  @CsvSource({"29, -1", "30, 0", "59, 0"})
  void a_minute_is_final_half_a_minute_after_its_end(int markedSeconds, int minutes) {
    cursor(14);
    maintenance.sumUpHistory();
    db.sql(
        "UPDATE holdfast.history_cursor SET marked_xid = '1', summed_until = known_since,"
            + " marked_at = known_since + interval '10 minutes' + ? * interval '1 second'",
        markedSeconds);
    assertThat(maintenance.sumUpHistory()).isFalse();
    assertThat(
            db.count(
                "SELECT extract(epoch FROM summed_until - known_since)::int / 60"
                    + " FROM holdfast.history_cursor"))
        .isEqualTo(10 + minutes);
  }

  @Test
  void one_transaction_sums_up_a_quarter_of_an_hour_at_most() {
    cursor(60);
    maintenance.sumUpHistory();
    db.sql("UPDATE holdfast.history_cursor SET marked_xid = '1'");
    Instant before = summedUntil();
    assertThat(maintenance.sumUpHistory()).isTrue();
    assertThat(summedUntil()).isEqualTo(before.plus(Duration.ofMinutes(15)));
  }

  @Test
  void concurrent_processes_count_each_job_once() {
    for (int minutes = 2; minutes < 90; minutes++) {
      succeeded(1, minutes * 60);
    }
    cursor(120);
    List<Maintenance> all = new ArrayList<>(List.of(maintenance));
    for (int i = 0; i < 3; i++) {
      JobStore other = another();
      all.add(other.maintenance());
    }
    Parallel.run(
        all.size(),
        i ->
            () -> {
              for (int round = 0; round < 20; round++) {
                all.get(i).sumUpHistory();
              }
              return true;
            });
    sumUp();
    assertThat(history(Duration.ofHours(2)).total().succeeded()).isEqualTo(88);
    assertThat(history(DAY).total().succeeded()).isEqualTo(88);
    assertThat(history(Duration.ofDays(7)).total().succeeded()).isEqualTo(88);
  }

  @Test
  void minutes_are_rolled_up_and_deleted() {
    for (int hours = 1; hours < 40; hours += 3) {
      succeeded(1, hours * 3600);
    }
    cursor(41 * 60);
    db.sql(
        "INSERT INTO holdfast.history VALUES (3600, now() - interval '17 days', 'old', 'old', 'default',"
            + " 0, 1, 0, 0, '{}', '{}', '{}', '{}')");
    sumUp();
    JobHistory week = history(Duration.ofDays(7));
    assertThat(week.total().succeeded()).isEqualTo(13);
    assertThat(week.step()).isEqualTo(Duration.ofHours(2));
    assertThat(week.points()).hasSizeBetween(84, 86);
    assertThat(week.total().runTime()).isNotNull();
    assertThat(history(DAY).total().succeeded()).isEqualTo(8);
    assertThat(history(DAY).step()).isEqualTo(Duration.ofMinutes(15));
    assertThat(history(Duration.ofHours(6)).total().succeeded()).isEqualTo(2);
    assertThat(stored(60)).as("minutes of eight hours").isBetween(2L, 3L);
    assertThat(stored(900)).as("quarters of 26 hours").isBetween(8L, 10L);
    assertThat(stored(3600)).as("hours").isEqualTo(13);
    assertThat(db.count("SELECT count(*) FROM holdfast.history WHERE queue = 'old'")).isZero();
  }

  @Test
  void the_depth_is_sampled_once_a_minute() {
    queue.enqueue(jobs(5));
    claim(2);
    db.sql("UPDATE holdfast.job SET run_at = run_at - interval '9 minutes'");
    cursor(2);
    maintenance.sumUpHistory();
    maintenance.sumUpHistory();
    assertThat(db.count("SELECT count(*) FROM holdfast.queue_depth WHERE queue = 'default'"))
        .isBetween(1L, 2L);
    for (String of : new String[] {null, QUEUE}) {
      JobHistory.Depth depth = Objects.requireNonNull(newestDepth(of));
      assertThat(depth.due()).isEqualTo(3);
      assertThat(depth.running()).isEqualTo(2);
      assertThat(depth.oldest()).as("of jobs that wait still").isBetween(minutes(9), minutes(10));
    }
    assertThat(newestDepth("empty")).isEqualTo(new JobHistory.Depth(0, 0, Duration.ZERO));
    JobHistory ofTenant =
        queries.history(new JobHistory.Query(HOUR, null, null, Tenant.of("default")));
    assertThat(ofTenant.points()).extracting(Point::depth).containsOnlyNulls();
  }

  private static Duration minutes(int n) {
    return Duration.ofMinutes(n);
  }

  private JobHistory.@Nullable Depth newestDepth(@Nullable String of) {
    return queries.history(new JobHistory.Query(HOUR, of, null, Tenant.ANY)).points().stream()
        .map(Point::depth)
        .filter(Objects::nonNull)
        .reduce((before, last) -> last)
        .orElse(null);
  }

  @Test
  void batch_claimed_jobs_are_counted() {
    queue.enqueue(jobs(300));
    List<LeasedJob> batch = new ArrayList<>();
    while (batch.size() < 300) {
      batch.addAll(queue.claim(new ClaimRequest(QUEUE, 150, WORKER, LEASE).inBatches()).jobs());
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.claim")).isPositive();
    queue.settle(batch.stream().<Settlement>map(each -> succeed(each.lease())).toList());
    db.sql(
        "UPDATE holdfast.job SET created_at = created_at - interval '10 min', run_at = run_at - interval"
            + " '10 min', started_at = started_at - interval '10 min', finished_at = finished_at - interval '10 min'");
    cursor(20);
    sumUp();
    assertThat(stored(60)).isEqualTo(300);
    assertThat(history(HOUR).total().enqueued()).isEqualTo(300);
  }
}
