package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.worker.Worker;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulesTest extends Guide {
  record Report(String day) {}

  private ScheduleStatus schedule() {
    return holdfast.admin().schedules().getFirst();
  }

  private void isDue() {
    db.sql("UPDATE holdfast.schedule SET next_fire_at = now() - interval '1 second'");
  }

  private List<JobStatus> reports() {
    return holdfast.queries().list(JobFilter.ALL.queue("reports"));
  }

  @Test
  void a_schedule_enqueues_its_job_until_it_is_paused_or_removed() {
    // region schedule
    holdfast
        .admin()
        .schedule(
            Schedule.of(
                    "nightly-report",
                    "0 3 * * mon-fri",
                    ZoneId.of("Europe/Berlin"),
                    Job.of("report", new Report("yesterday")).queue("reports"))
                .missedFires(MissedFires.SKIP)
                .withoutOverlap());
    // endregion
    // region schedule
    List<ScheduleStatus> schedules = holdfast.admin().schedules(); // each with its next, last time
    // endregion
    assertThat(schedules).hasSize(1);
    ZonedDateTime next = schedules.getFirst().nextFireAt().atZone(ZoneId.of("Europe/Berlin"));
    assertThat(next.toInstant()).isAfter(Instant.now());
    assertThat(next.getHour()).isEqualTo(3);
    assertThat(next.getDayOfWeek()).isNotIn(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY);
    assertThat(schedules.getFirst().lastFiredAt()).isNull();

    isDue();
    holdfast.store().maintenance().fire();
    assertThat(reports()).singleElement().returns("nightly-report", JobStatus::runKey);
    assertThat(schedule().lastFiredAt()).isNotNull();
    isDue();
    holdfast.store().maintenance().fire();
    assertThat(reports()).as("the last job has not ended").hasSize(1);
    holdfast.jobs().cancel(List.of(reports().getFirst().id()), false, "to make room", Tenant.ANY);

    // region schedule
    holdfast.admin().runSchedule("nightly-report"); // its job now; its times stay
    // endregion
    assertThat(reports()).hasSize(2);
    holdfast.jobs().cancel(List.of(reports().getFirst().id()), false, "to make room", Tenant.ANY);
    // region schedule
    holdfast.admin().pauseSchedule("nightly-report");
    // endregion
    assertThat(schedule().pausedAt()).isNotNull();
    isDue();
    holdfast.store().maintenance().fire();
    assertThat(reports()).hasSize(2);
    // region schedule
    holdfast.admin().resumeSchedule("nightly-report"); // goes on from the next time
    // endregion
    assertThat(schedule().pausedAt()).isNull();
    assertThat(schedule().nextFireAt()).isAfter(Instant.now());
    holdfast.store().maintenance().fire();
    assertThat(reports()).hasSize(2);
    // region schedule
    holdfast.admin().removeSchedule("nightly-report"); // jobs it made stay
    // endregion
    assertThat(holdfast.admin().schedules()).isEmpty();
    assertThat(reports()).hasSize(2);
  }

  @Test
  void a_worker_fires_a_schedule_with_an_interval_of_one_second_every_second() {
    // region every
    holdfast.admin().schedule(Schedule.every("heartbeat", Duration.ofSeconds(1), Job.of("ping")));
    // endregion
    try (Worker worker =
        holdfast.worker("default").handle("ping", Json.class, (none, context) -> null).start()) {
      until(() -> holdfast.queries().list(JobFilter.ALL.kind("ping")).size() >= 4);
      assertThat(worker.name()).isNotBlank();
    }
    List<Instant> created =
        holdfast.queries().list(JobFilter.ALL.kind("ping")).reversed().stream()
            .map(JobStatus::createdAt)
            .toList();
    // A sweep is every five seconds: four jobs would take fifteen. One of them may be late.
    assertThat(Duration.between(created.get(0), created.get(3))).isLessThan(Duration.ofSeconds(9));
    holdfast.admin().removeSchedule("heartbeat");
  }
}
