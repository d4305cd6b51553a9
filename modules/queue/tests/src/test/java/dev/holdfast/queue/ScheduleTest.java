package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.Job;
import dev.holdfast.model.JobFilter;
import dev.holdfast.model.JobStatus;
import dev.holdfast.model.Json;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RetryDefaults;
import dev.holdfast.model.Schedule;
import dev.holdfast.model.ScheduleStatus;
import dev.holdfast.model.WhenMissed;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
    return queue.schedules().stream()
        .filter(s -> s.schedule().name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** As if nobody had looked for so many years. */
  private void overdue(int years) {
    db.sql(
        "UPDATE holdfast.schedule SET next_at = (date_trunc('year', now() AT TIME ZONE 'UTC')"
            + " - ? * interval '1 year') AT TIME ZONE 'UTC'",
        years);
  }

  @Test
  void its_job_has_the_attempts_that_hold_when_it_is_enqueued() {
    queue.schedule(everyYear());
    overdue(0);
    RetryDefaults defaults = RetryDefaults.of(new RetryDefaults.Retries(7, null));
    try (Queue other =
        new Queue(db.dataSource(), new JacksonCodec(), Queue.Options.DEFAULT.retries(defaults))) {
      assertThat(other.fire()).isEqualTo(1);
    }
    assertThat(queue.list(JobFilter.ALL).getFirst().maxAttempts()).isEqualTo(7);
  }

  @Test
  void it_fires_when_its_time_has_come_and_not_before() {
    queue.schedule(everyYear());
    assertThat(queue.fire()).isZero();
    overdue(0);
    assertThat(queue.fire()).isEqualTo(1);
    assertThat(queue.fire()).isZero();

    JobStatus job = queue.list(JobFilter.ALL).getFirst();
    assertThat(job.kind()).isEqualTo("tick");
    assertThat(job.priority()).isEqualTo(2);
    assertThat(job.runKey()).isEqualTo("tick");
    assertThat(job.payload().text()).contains("1");
    assertThat(status("tick").nextAt()).isAfter(Instant.now());
    assertThat(status("tick").lastAt()).isNotNull();
  }

  @Test
  void any_number_of_nodes_fire_it_once() {
    queue.schedule(everyYear());
    overdue(0);
    List<Queue> nodes = List.of(queue, another(), another(), another());
    int fired =
        Parallel.run(nodes.size(), i -> nodes.get(i)::fire).stream()
            .mapToInt(Integer::intValue)
            .sum();
    assertThat(fired).isEqualTo(1);
    assertThat(queue.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void a_transaction_that_runs_twice_makes_one_job() {
    queue.schedule(everyYear());
    overdue(0);
    queue.fire();
    overdue(0);
    queue.fire();
    assertThat(queue.list(JobFilter.ALL)).hasSize(1);
  }

  @Test
  void missed_times_are_made_up_for_once_not_at_all_or_each() {
    queue.schedule(everyYear());
    overdue(10);
    assertThat(queue.fire()).isEqualTo(1);

    queue.schedule(everyYear().missed(WhenMissed.ALL));
    overdue(10);
    assertThat(queue.fire()).isEqualTo(11);

    queue.schedule(everyYear().missed(WhenMissed.SKIP));
    overdue(10);
    assertThat(queue.fire()).isZero();
    assertThat(status("tick").nextAt()).isAfter(Instant.now());
  }

  @Test
  void without_overlap_a_time_before_the_last_one_has_ended_is_passed_over() {
    queue.schedule(everyYear().withoutOverlap());
    overdue(0);
    queue.fire();
    db.sql("UPDATE holdfast.schedule SET next_at = now() - interval '1 minute'");
    queue.fire();
    assertThat(queue.list(JobFilter.ALL)).hasSize(1);

    queue.settle(succeed(claimOne()));
    db.sql("UPDATE holdfast.schedule SET next_at = now() - interval '1 second'");
    queue.fire();
    assertThat(queue.list(JobFilter.ALL)).hasSize(2);
  }

  @Test
  void a_paused_schedule_fires_nothing_and_makes_up_for_nothing() {
    queue.schedule(everyYear().missed(WhenMissed.ALL));
    assertThat(queue.pauseSchedule("tick")).isTrue();
    assertThat(queue.pauseSchedule("tick")).isFalse();
    overdue(5);
    assertThat(queue.fire()).isZero();
    assertThat(queue.resumeSchedule("tick")).isTrue();
    assertThat(queue.resumeSchedule("tick")).isFalse();
    assertThat(queue.fire()).isZero();
    assertThat(status("tick").pausedAt()).isNull();
  }

  @Test
  void setting_it_again_does_not_lose_a_time_that_is_due() {
    queue.schedule(everyYear());
    overdue(0);
    queue.schedule(everyYear());
    assertThat(queue.fire()).isEqualTo(1);
  }

  @Test
  void it_can_be_changed_and_removed() {
    queue.schedule(everyYear());
    queue.schedule(Schedule.of("tick", "@daily", ZoneId.of("Europe/Berlin"), Job.of("tock")));
    assertThat(queue.schedules()).hasSize(1);
    assertThat(status("tick").schedule().cron().toString()).isEqualTo("@daily");
    assertThat(status("tick").schedule().job().kind()).isEqualTo("tock");
    assertThat(queue.removeSchedule("tick")).isTrue();
    assertThat(queue.removeSchedule("tick")).isFalse();
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
}
