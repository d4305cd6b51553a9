package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
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

  /** As if nobody had looked for so many years. */
  private void overdue(int years) {
    db.sql(
        "UPDATE holdfast.schedule SET next_fire_at = (date_trunc('year', now() AT TIME ZONE 'UTC')"
            + " - ? * interval '1 year') AT TIME ZONE 'UTC'",
        years);
  }

  @Test
  void its_job_has_the_attempts_that_hold_when_it_is_enqueued() {
    admin.schedule(everyYear());
    overdue(0);
    RetryDefaults defaults = RetryDefaults.of(new RetryDefaults.Retries(7, null));
    try (Queue other =
        new Queue(db.dataSource(), new JacksonCodec(), Queue.Options.DEFAULT.retries(defaults))) {
      assertThat(other.maintenance().fire()).isEqualTo(1);
    }
    assertThat(queries.list(JobFilter.ALL).getFirst().maxAttempts()).isEqualTo(7);
  }

  @Test
  void it_fires_when_its_time_has_come_and_not_before() {
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
  void any_number_of_nodes_fire_it_once() {
    admin.schedule(everyYear());
    overdue(0);
    List<Queue> nodes = List.of(opened, another(), another(), another());
    int fired =
        Parallel.run(nodes.size(), i -> nodes.get(i).maintenance()::fire).stream()
            .mapToInt(Integer::intValue)
            .sum();
    assertThat(fired).isEqualTo(1);
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void a_transaction_that_runs_twice_makes_one_job() {
    admin.schedule(everyYear());
    overdue(0);
    maintenance.fire();
    overdue(0);
    maintenance.fire();
    assertThat(queries.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void missed_times_are_made_up_for_once_not_at_all_or_each() {
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
  void without_overlap_a_time_before_the_last_one_has_ended_is_passed_over() {
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
  void a_paused_schedule_fires_nothing_and_makes_up_for_nothing() {
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
  void setting_it_again_does_not_lose_a_time_that_is_due() {
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
  void a_job_that_cannot_be_repeated_is_refused() {
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
  void a_schedule_that_cannot_be_read_is_told_and_stops_no_other(String damage, String told) {
    twoWithABroken(damage);
    assertThat(reason(status("a-broken"))).contains(told);
    assertThat(maintenance.fire()).isEqualTo(1);
    assertThat(queries.list(JobFilter.ALL)).extracting(JobStatus::kind).containsExactly("tick");
    assertThat(reason(status("a-broken"))).contains(told);
    assertThat(status("tick").fireError()).isNull();
  }

  @Test
  void a_schedule_whose_payload_is_damaged_is_told_and_stops_no_other() {
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
  void a_schedule_whose_run_fails_is_told_tried_again_and_fires_once_it_can() {
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
  void setting_a_broken_schedule_anew_mends_it_and_it_can_be_removed() {
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
  void more_broken_schedules_than_are_fired_at_once_leave_room_for_others() {
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
