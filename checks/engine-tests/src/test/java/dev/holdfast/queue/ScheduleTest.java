package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.ScheduledRun;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScheduleTest extends QueueFixture {
  private static final ZoneId UTC = ZoneId.of("UTC");

  // A year is long enough for no time to come while a test runs.
  private static Schedule everyYear() {
    return Schedule.of("tick", "@yearly", UTC, Job.of("tick", new Json("{\"n\": 1}")).priority(2));
  }

  @BeforeEach
  void forget() {
    db.sql("TRUNCATE holdfast.schedule");
  }

  private ScheduleStatus status(String name) {
    return admin.schedules().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  /** As if no sweep had run for so many years. */
  private void overdue(int years) {
    db.sql(
        "UPDATE holdfast.schedule SET next_fire_at = (date_trunc('year', now() AT TIME ZONE 'UTC')"
            + " - ? * interval '1 year') AT TIME ZONE 'UTC'",
        years);
  }

  @Test
  void the_job_has_the_max_attempts_in_force_when_it_is_enqueued() {
    admin.schedule(everyYear());
    overdue(0);
    RetryDefaults defaults = RetryDefaults.of(new RetryDefaults.Retries(7, null));
    try (JobStore other =
        new JobStore(
            db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.retries(defaults))) {
      assertThat(other.maintenance().fire()).isEqualTo(1);
    }
    assertThat(queries.list(JobFilter.ALL).getFirst().maxAttempts()).isEqualTo(7);
  }

  @Test
  void it_fires_when_due_and_not_before() {
    admin.schedule(everyYear());
    assertThat(maintenance.fire()).isZero();
    overdue(0);
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(maintenance.fire()).isZero();

    JobStatus job = queries.list(JobFilter.ALL).getFirst();
    assertThat(job.kind()).isEqualTo("tick");
    assertThat(job.priority()).isEqualTo(2);
    assertThat(job.runKey()).isEqualTo("tick");
    assertThat(job.payload().text()).contains("1");
    assertThat(status("tick").nextFireAt()).isAfter(Instant.now());
    assertThat(status("tick").lastFiredAt()).isNotNull();
  }

  @Test
  void it_lists_its_last_ten_jobs_with_their_states() {
    admin.schedule(everyYear());
    assertThat(status("tick").lastRuns()).isEmpty();
    overdue(0);
    maintenance.fire();
    JobId fired = queries.list(JobFilter.ALL).getFirst().id();
    queue.settle(succeed(claimOne()));
    for (int i = 0; i < 11; i++) {
      admin.runSchedule("tick");
    }
    assertThat(status("tick").lastRuns()).hasSize(10);
    db.sql("DELETE FROM holdfast.job WHERE state = 'PENDING'");
    assertThat(status("tick").lastRuns()).as("those that were deleted").isEmpty();
    JobId newest = admin.runSchedule("tick").orElseThrow().id();
    db.sql("UPDATE holdfast.schedule SET last_jobs = last_jobs || ?", fired.value());
    assertThat(status("tick").lastRuns())
        .extracting(ScheduledRun::id, ScheduledRun::state)
        .containsExactly(tuple(newest, JobState.PENDING), tuple(fired, JobState.SUCCEEDED));
    assertThat(status("tick").lastRuns().getLast().finishedAt()).isNotNull();
  }

  @Test
  void a_duplicate_of_a_job_is_not_listed_again_among_the_last_jobs() {
    admin.schedule(everyYear().withoutOverlap());
    overdue(0);
    maintenance.fire();
    assertThat(admin.runSchedule("tick").orElseThrow().duplicate()).isTrue();
    assertThat(status("tick").lastRuns()).hasSize(1);
  }

  @Test
  void concurrent_nodes_fire_it_once() {
    admin.schedule(everyYear());
    overdue(0);
    List<JobStore> nodes = List.of(opened, another(), another(), another());
    int fired =
        Parallel.run(nodes.size(), i -> nodes.get(i).maintenance()::fire).stream()
            .mapToInt(Integer::intValue)
            .sum();
    assertThat(fired).isEqualTo(1);
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void firing_the_same_time_twice_makes_one_job() {
    admin.schedule(everyYear());
    overdue(0);
    maintenance.fire();
    overdue(0);
    maintenance.fire();
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void missed_times_are_fired_once_skipped_or_fired_each() {
    admin.schedule(everyYear());
    overdue(10);
    assertThat(maintenance.fire()).isEqualTo(1);

    admin.schedule(everyYear().missedFires(MissedFires.ALL));
    overdue(10);
    assertThat(maintenance.fire()).isEqualTo(11);

    admin.schedule(everyYear().missedFires(MissedFires.SKIP));
    overdue(10);
    assertThat(maintenance.fire()).isZero();
    assertThat(status("tick").nextFireAt()).isAfter(Instant.now());
  }

  @Test
  void all_missed_times_are_fired_also_when_they_are_more_than_one_sweep_takes() {
    admin.schedule(
        Schedule.of("tick", "@monthly", UTC, Job.of("tick")).missedFires(MissedFires.ALL));
    db.sql(
        "UPDATE holdfast.schedule SET next_fire_at = (date_trunc('month', now() AT TIME ZONE 'UTC')"
            + " - interval '249 months') AT TIME ZONE 'UTC'");
    assertThat(List.of(maintenance.fire(), maintenance.fire(), maintenance.fire()))
        .containsExactly(100, 100, 50);
    assertThat(maintenance.fire()).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.job")).isEqualTo(250);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "61, 0"})
  void with_skip_a_time_is_kept_if_it_is_noticed_within_a_minute(int secondsAgo, int fired) {
    admin.schedule(everyYear().missedFires(MissedFires.SKIP));
    db.sql(
        "UPDATE holdfast.schedule SET next_fire_at = now() - ? * interval '1 second'", secondsAgo);
    assertThat(maintenance.fire()).isEqualTo(fired);
    assertThat(status("tick").nextFireAt()).isAfter(Instant.now());
  }

  @Test
  void without_overlap_a_time_is_skipped_while_the_last_job_has_not_ended() {
    admin.schedule(everyYear().withoutOverlap());
    overdue(0);
    maintenance.fire();
    db.sql("UPDATE holdfast.schedule SET next_fire_at = now() - interval '1 minute'");
    maintenance.fire();
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);

    queue.settle(succeed(claimOne()));
    db.sql("UPDATE holdfast.schedule SET next_fire_at = now() - interval '1 second'");
    maintenance.fire();
    assertThat(queries.list(JobFilter.ALL)).hasSize(2);
  }

  @Test
  void a_paused_schedule_fires_nothing_and_catches_up_nothing() {
    admin.schedule(everyYear().missedFires(MissedFires.ALL));
    assertThat(admin.pauseSchedule("tick")).isTrue();
    assertThat(admin.pauseSchedule("tick")).isFalse();
    overdue(5);
    assertThat(maintenance.fire()).isZero();
    assertThat(admin.resumeSchedule("tick")).isTrue();
    assertThat(admin.resumeSchedule("tick")).isFalse();
    assertThat(maintenance.fire()).isZero();
    assertThat(status("tick").pausedAt()).isNull();
  }

  @Test
  void setting_it_again_keeps_a_due_fire_time() {
    admin.schedule(everyYear());
    overdue(0);
    admin.schedule(everyYear());
    assertThat(maintenance.fire()).isEqualTo(1);
  }

  @Test
  void it_can_be_changed_and_removed() {
    admin.schedule(everyYear());
    admin.schedule(Schedule.of("tick", "@daily", ZoneId.of("Europe/Berlin"), Job.of("tock")));
    assertThat(admin.schedules()).hasSize(1);
    assertThat(status("tick").cron()).isEqualTo("@daily");
    assertThat(status("tick").kind()).isEqualTo("tock");
    assertThat(admin.removeSchedule("tick")).isTrue();
    assertThat(admin.removeSchedule("tick")).isFalse();
  }

  @Test
  void an_interval_counts_from_the_last_fire_time_not_from_when_it_was_noticed() {
    admin.schedule(Schedule.every("tick", Duration.ofSeconds(30), Job.of("tick")));
    Instant first = status("tick").nextFireAt();
    assertThat(first).isBetween(Instant.now(), Instant.now().plusSeconds(31));
    db.sql("UPDATE holdfast.schedule SET next_fire_at = next_fire_at - interval '40 seconds'");
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(status("tick").nextFireAt()).isEqualTo(first.minusSeconds(10));
    assertThat(status("tick").cron()).isEqualTo("@every 30s");
    admin.schedule(Schedule.every("tick", Duration.ofSeconds(30), Job.of("tick")));
    assertThat(status("tick").nextFireAt()).as("set again").isEqualTo(first.minusSeconds(10));
  }

  @ParameterizedTest
  @CsvSource({"@every 1s", "* * * * * *", "*/2 * * * * ?"})
  void years_of_missed_seconds_are_caught_up_at_once(String cron) {
    admin.schedule(Schedule.of("tick", cron, UTC, Job.of("tick")));
    db.sql("UPDATE holdfast.schedule SET next_fire_at = timestamptz '2000-01-01 00:00:00Z'");
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(status("tick").lastFiredAt())
        .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(5));
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void a_sweep_returns_when_the_next_schedule_is_due() {
    assertThat(maintenance.fireOnTime()).isEmpty();
    admin.schedule(everyYear());
    admin.schedule(Schedule.every("often", Duration.ofSeconds(30), Job.of("tick")));
    assertThat(maintenance.fireOnTime().orElseThrow())
        .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(30));
    admin.pauseSchedule("often");
    assertThat(maintenance.fireOnTime().orElseThrow()).isGreaterThan(Duration.ofMinutes(1));
    assertThat(queries.list(JobFilter.ALL)).isEmpty();
    overdue(0);
    maintenance.fireOnTime();
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void running_it_now_does_not_change_its_next_fire_time() {
    admin.schedule(everyYear().withoutOverlap());
    Instant next = status("tick").nextFireAt();
    JobId id = admin.runSchedule("tick").orElseThrow().id();
    assertThat(queries.find(id).orElseThrow().runKey()).isEqualTo("tick");
    assertThat(admin.runSchedule("tick").orElseThrow()).isEqualTo(new Enqueued(id, true));
    assertThat(status("tick").nextFireAt()).isEqualTo(next);
    assertThat(admin.runSchedule("nothing")).isEmpty();
  }

  @Test
  void an_invalid_cron_and_a_job_with_a_key_are_refused() {
    assertRefused(
        Refusal.BAD_SCHEDULE, () -> Schedule.of("x", "@daily", UTC, Job.of("x").uniqueKey("k")));
    assertRefused(
        Refusal.BAD_SCHEDULE,
        () -> Schedule.of("x", "@daily", UTC, Job.of("x").concurrencyKey("k", 1)));
    assertRefused(Refusal.BAD_SCHEDULE, () -> Schedule.of("x", "whenever", UTC, Job.of("x")));
  }

  private static String reason(ScheduleStatus status) {
    return Objects.requireNonNull(status.fireError());
  }

  private void twoWithABroken(String assignment) {
    admin.schedule(Schedule.of("a-broken", "@yearly", UTC, Job.of("never")));
    admin.schedule(everyYear());
    db.sql("UPDATE holdfast.schedule SET " + assignment + " WHERE name = 'a-broken'");
    overdue(0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "zone = 'Moon/Tranquility'                       | time zone 'Moon/Tranquility'",
        "cron = 'whenever'                               | whenever",
        "cron = '0 0 30 2 *'                             | never",
        "kind = ''                                       | kind",
        "timeout_ms = -1                                 | timeout",
        "payload = (SELECT jsonb_agg('1e131071'::jsonb) FROM generate_series(1, 9000)) | too long",
      })
  void an_unreadable_schedule_is_reported_and_blocks_no_other(String damage, String told) {
    twoWithABroken(damage);
    assertThat(reason(status("a-broken"))).contains(told);
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(queries.list(JobFilter.ALL)).extracting(JobStatus::kind).containsExactly("tick");
    assertThat(reason(status("a-broken"))).contains(told);
    assertThat(status("tick").fireError()).isNull();
  }

  @Test
  void a_schedule_with_a_damaged_payload_is_reported_and_blocks_no_other() {
    db.sql("CREATE CAST (bytea AS jsonb) WITHOUT FUNCTION");
    try {
      twoWithABroken("payload = '\\x01000000'::bytea::jsonb");
    } finally {
      db.sql("DROP CAST (bytea AS jsonb)");
    }
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(reason(status("a-broken"))).isNotBlank();
    assertThat(status("a-broken").payload()).isNull();
  }

  @Test
  void a_schedule_that_fails_to_fire_is_reported_retried_and_fires_once_possible() {
    twoWithABroken("kind = 'refused'");
    db.sql("ALTER TABLE holdfast.job ADD CONSTRAINT not_that CHECK (kind <> 'refused') NOT VALID");
    try {
      assertThat(maintenance.fire()).isEqualTo(1);
      assertThat(reason(status("a-broken"))).contains("not_that");
      assertThat(status("a-broken").nextFireAt()).isBefore(Instant.now());
    } finally {
      db.sql("ALTER TABLE holdfast.job DROP CONSTRAINT not_that");
    }
    assertThat(maintenance.fire()).as("not at every sweep").isZero();
    db.sql("UPDATE holdfast.schedule SET retry_at = now() WHERE retry_at IS NOT NULL");
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(status("a-broken").fireError()).isNull();
    assertThat(status("a-broken").nextFireAt()).isAfter(Instant.now());
  }

  @Test
  void a_broken_schedule_can_be_set_again_and_removed() {
    twoWithABroken("zone = 'Moon'");
    maintenance.fire();
    assertRefused(
        Refusal.BAD_SCHEDULE,
        () -> {
          admin.pauseSchedule("a-broken");
          admin.resumeSchedule("a-broken");
        });
    admin.schedule(Schedule.of("a-broken", "@yearly", UTC, Job.of("mended")));
    assertThat(status("a-broken").fireError()).isNull();
    assertThat(admin.removeSchedule("a-broken")).isTrue();
  }

  @Test
  void more_broken_schedules_than_one_batch_do_not_block_others() {
    for (int i = 0; i < 100; i++) {
      admin.schedule(Schedule.of("broken-" + i, "@yearly", UTC, Job.of("never")));
    }
    db.sql("UPDATE holdfast.schedule SET zone = 'Moon'");
    admin.schedule(everyYear());
    overdue(1);
    db.sql(
        "UPDATE holdfast.schedule SET next_fire_at = next_fire_at + interval '1 day' WHERE name = 'tick'");
    assertThat(maintenance.fire()).isZero();
    assertThat(maintenance.fire()).isEqualTo(1);
  }
}
