package dev.holdfast.operate.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Findings about queues, jobs and schedules: when each is reported, and its text. */
class DiagnosisTest extends DiagnosisFixture {
  @Test
  void nothing_is_reported_while_workers_run_jobs_and_none_waits_long() {
    add(row -> row);
    queues.add(queue(5, 0, 29));
    assertFound();
  }

  // ---- queues, jobs, schedules

  @Test
  void a_pause_of_all_workers_is_the_only_finding_while_jobs_wait() {
    workersPausedAt = NOW.minusSeconds(60);
    add(row -> row);
    assertFound();
    queues.add(queue(5, 0, 3_600));
    assertFound("all_paused");
    assertThat(found().getFirst().message()).contains("5 jobs");
    assertThat(found().getFirst().gist()).contains("jobs").doesNotContain("5 jobs");
    assertThat(found().getFirst().cliHint()).contains("holdfast workers resume --all");
    assertThat(found().getFirst().httpHint()).contains("POST /v1/workers/resume");
  }

  @Test
  void a_queue_without_workers_is_reported() {
    queues.add(queue(5, 0, 61));
    assertFound("queue_stalled");
    assertThat(found().getFirst().message())
        .isEqualTo("5 jobs of queue 'tag' are due and no worker claims them");
    queues.set(0, queue(1, 0, 61));
    assertThat(found().getFirst().message())
        .isEqualTo("1 job of queue 'tag' is due and no worker claims it");
    waitedFor = Set.of("tag");
    assertFound();
    waitedFor = Set.of();
    // At another server.
    pollers.add(new Poller("py-1", List.of("mail", "tag"), NOW));
    assertFound();
    pollers.set(0, new Poller("py-1", List.of("mail"), NOW));
    assertFound("queue_stalled");
    queues.set(0, queue(5, 1, 61));
    assertFound();
  }

  @Test
  void a_kind_that_no_worker_handles_is_named_with_its_queue() {
    warnings = new Warnings(0, 0, 0, 0, List.of(new UnhandledKind("tag", "nope", 2)), List.of());
    assertFound("kind_unhandled");
    assertThat(found().getFirst().message())
        .isEqualTo("2 jobs of kind 'nope' in queue 'tag' wait and no worker handles it");
    assertThat(found().getFirst().cliHint()).contains("jobs cancel --kind nope --queue tag");
  }

  private static QueueStatus pushed(long due, @Nullable DispatchError error) {
    Duration waits = due == 0 ? null : Duration.ofSeconds(61);
    return new QueueStatus(
        "tag", due, 0, 0, 0, 0, null, null, null, null, waits, waits, new QueueStatus.Push(error));
  }

  @Test
  void a_queue_that_no_server_pushes_is_reported_without_mentioning_workers() {
    queues.add(pushed(5, null));
    assertFound("queue_stalled");
    assertThat(found().getFirst().message())
        .isEqualTo("5 jobs of queue 'tag' are due and no server pushes them");
    assertThat(found().getFirst().cliHint()).contains("holdfast server").doesNotContain("worker");
  }

  @ParameterizedTest
  @EnumSource(DispatchError.Kind.class)
  void a_failed_push_is_reported_with_its_reason(DispatchError.Kind kind) {
    String code =
        switch (kind) {
          case UNREACHABLE -> "dispatch_unreachable";
          case FAILING -> "dispatch_failing";
          case SECRET_REFUSED -> "dispatch_secret_refused";
          case NOT_ALLOWED -> "dispatch_not_allowed";
        };
    DispatchError error = new DispatchError(kind, "status 503", false, NOW);
    queues.add(pushed(5, error));
    assertFound(code);
    assertThat(found().getFirst().message())
        .contains("'tag'", "status 503")
        .doesNotContain("pauses");
    assertThat(found().getFirst().cliHint()).doesNotContain("holdfast worker");
    queues.set(0, pushed(5, new DispatchError(kind, "status 503", true, NOW)));
    assertThat(found().getFirst().message()).contains("circuit breaker is open");
    // With nothing to push no job waits; but jobs failed by a wrong secret have ended.
    queues.set(0, pushed(0, error));
    if (kind == DispatchError.Kind.SECRET_REFUSED) {
      assertFound(code);
    } else {
      assertFound();
    }
  }

  @Test
  void toxic_jobs_are_reported_with_a_command_that_lists_them() {
    warnings = new Warnings(3, 2, 0, 0, List.of(), List.of());
    assertFound("toxic_jobs", "jobs_failed");
    assertThat(found().getFirst().message()).startsWith("2 jobs");
    assertThat(found().getFirst().cliHint()).contains("TOXIC_JOB", "holdfast jobs show");
    assertThat(found().getFirst().httpHint()).contains("q=TOXIC_JOB");
  }

  @Test
  void expired_leases_that_are_not_reaped_are_reported() {
    warnings = new Warnings(0, 0, 4, 0, List.of(), List.of());
    assertFound("leases_overdue");
  }

  @Test
  void questions_that_nobody_answers_are_reported() {
    warnings = new Warnings(0, 0, 0, 2, List.of(), List.of());
    assertFound("waits_unanswered");
    assertThat(found().getFirst().message()).contains("2 jobs ask", "more than 24 hours");
    assertThat(found().getFirst().cliHint()).contains("holdfast inbox");
  }

  @Test
  void notices_that_are_not_received_are_reported() {
    notices = new Notice.Trouble(3, "status 500", 1);
    assertFound("notices_failing", "notices_given_up");
    assertThat(found().getFirst().message()).contains("3 notices", "status 500");
    assertThat(found().getFirst().cliHint()).contains("holdfast notices list");
    assertThat(found().getLast().message()).contains("1 notice of open questions");
    assertThat(found().getLast().cliHint()).contains("holdfast inbox", "holdfast notices send ID");
  }

  private static ScheduleStatus schedule(
      Instant nextAt, @Nullable Instant pausedAt, @Nullable String broken) {
    return new ScheduleStatus(
        "nightly",
        "0 3 * * *",
        "UTC",
        "echo",
        "default",
        5,
        null,
        2,
        null,
        MissedFires.ONCE,
        true,
        Json.EMPTY,
        nextAt,
        null,
        pausedAt,
        broken,
        List.of());
  }

  @Test
  void an_overdue_schedule_is_reported_unless_it_is_paused() {
    schedules.add(schedule(NOW.minusSeconds(30), null, null));
    schedules.add(schedule(NOW.minusSeconds(61), NOW, null));
    assertFound();
    schedules.add(schedule(NOW.minusSeconds(61), null, null));
    assertFound("schedule_overdue");
  }

  @Test
  void a_schedule_that_cannot_be_fired_is_reported_with_its_name_unless_it_is_paused() {
    schedules.add(schedule(NOW.minusSeconds(61), NOW, "its time zone 'Moon' is not known here"));
    assertFound();
    schedules.add(schedule(NOW.minusSeconds(61), null, "its time zone 'Moon' is not known here"));
    assertFound("schedule_broken");
    assertThat(found().getFirst().message()).contains("'nightly'").contains("'Moon'");
  }
}
