package dev.holdfast.model.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.SupervisorHealth;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each rule: when it speaks, when it is silent, and what it says. */
class DiagnosisTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final String TAG = "worker:tag:0";
  private static final Warnings NONE = new Warnings(0, 0, 0);

  private final List<WorkerHealth> processes = new ArrayList<>();
  private final List<SupervisorHealth> supervisors = new ArrayList<>(List.of(supervisor(0)));
  private final List<Holder> holders = new ArrayList<>();
  private final List<QueueStatus> queues = new ArrayList<>();
  private final List<ScheduleStatus> schedules = new ArrayList<>();
  private Warnings warnings = NONE;
  private Set<String> waitedFor = Set.of();
  private @Nullable Instant allPaused;

  private List<Finding> found() {
    return Diagnosis.of(
        new Diagnosis.Facts(
            queues,
            new WorkerFleet(processes, supervisors, holders, NOW),
            warnings,
            schedules,
            waitedFor,
            allPaused));
  }

  private void assertFound(String... codes) {
    assertThat(found()).extracting(Finding::code).containsExactly(codes);
  }

  private static SupervisorHealth supervisor(long silent) {
    return new SupervisorHealth(
        "here", "host", NOW.minusSeconds(silent), Duration.ofSeconds(silent));
  }

  /** A worker process, healthy for an hour, unless it is changed. */
  private static final class Row {
    String supervisor = "here";
    String component = TAG;
    HealthStatus status = HealthStatus.HEALTHY;
    @Nullable Long pid = 77L;
    long age = 3_600;
    long silent = 1;
    @Nullable JobId job;
    boolean paused;
    int restarts;
    boolean ordered;
    @Nullable Instant next;
    @Nullable Integer exit;
    @Nullable String reason;

    Row is(HealthStatus value) {
      status = value;
      if (!value.isAlive()) {
        pid = null;
      }
      return this;
    }

    WorkerHealth row() {
      return new WorkerHealth(
          supervisor,
          component,
          1,
          status,
          pid,
          pid == null ? null : NOW.minusSeconds(age),
          NOW.minusSeconds(silent),
          Duration.ofSeconds(silent),
          status == HealthStatus.STARTING ? null : WorkerHealth.TIMEOUT,
          job,
          paused,
          restarts,
          restarts == 0 ? null : NOW.minusSeconds(ordered ? age : silent),
          next,
          exit,
          reason,
          new Json("{}"),
          NOW.minusSeconds(age));
    }
  }

  private Row add(UnaryOperator<Row> change) {
    Row row = change.apply(new Row());
    processes.add(row.row());
    return row;
  }

  private static QueueStatus queue(long due, long running, long oldest) {
    Duration waits = due == 0 ? null : Duration.ofSeconds(oldest);
    return new QueueStatus(
        "tag", due, 0, 0, 0, running, null, null, null, waits, waits, false, null);
  }

  private static QueueStatus limited(
      QueueStatus queue, @Nullable Integer maxRunning, @Nullable Integer rate, boolean paused) {
    return new QueueStatus(
        "tag",
        queue.due(),
        0,
        0,
        0,
        queue.running(),
        maxRunning,
        rate == null ? null : new RateLimit(rate, Duration.ofSeconds(1)),
        paused ? NOW : null,
        queue.oldest(),
        queue.oldestFree(),
        false,
        null);
  }

  @Test
  void all_is_well_while_workers_work_and_nothing_waits_long() {
    add(row -> row);
    queues.add(queue(5, 0, 29));
    assertFound();
  }

  // ---- worker processes

  @Test
  void one_that_starts_for_too_long_is_told() {
    add(
        row -> {
          row.age = 29;
          return row.is(HealthStatus.STARTING);
        });
    assertFound();
    processes.clear();
    add(
        row -> {
          row.age = 31;
          return row.is(HealthStatus.STARTING);
        });
    assertFound("worker_starting");
    assertThat(found().getFirst().cliHint()).contains("'holdfast logs worker:tag:0'");
    assertThat(found().getFirst().httpHint()).contains("POST /v1/workers/worker:tag:0/restart");
  }

  private void crashed(HealthStatus status, int restarts) {
    add(
        row -> {
          row.restarts = restarts;
          row.exit = 137;
          row.reason = "exit 137 (SIGKILL): it was killed";
          row.next = NOW.plusSeconds(4);
          return row.is(status);
        });
  }

  @Test
  void a_crash_is_no_crash_loop() {
    crashed(HealthStatus.CRASHED, 1);
    assertFound();
  }

  @Test
  void a_crash_loop_is_told_with_the_exit_by_name_and_the_next_start() {
    crashed(HealthStatus.CRASHED, 2);
    assertFound("worker_crash_loop");
    assertThat(found().getFirst().message())
        .isEqualTo(
            TAG
                + " keeps crashing: exit 137 (SIGKILL): it was killed; it was restarted 2 times and"
                + " will be restarted at 2026-03-01T12:00:04Z");
    assertThat(found().getFirst().cliHint()).contains("dmesg", "holdfast logs " + TAG);
  }

  @Test
  void a_crash_loop_is_still_one_while_the_next_process_starts() {
    crashed(HealthStatus.STARTING, 2);
    assertFound("worker_crash_loop");
  }

  @Test
  void one_that_an_operator_starts_anew_does_not_keep_crashing_for_it() {
    add(
        row -> {
          row.restarts = 4;
          row.ordered = true;
          row.exit = 0;
          row.reason = "restarted by ada: new settings";
          row.age = 29;
          return row.is(HealthStatus.STARTING);
        });
    assertFound();
  }

  @Test
  void one_that_hangs_again_and_again_was_not_killed_for_want_of_memory() {
    add(
        row -> {
          row.restarts = 2;
          row.exit = 137;
          row.reason = "it reported nothing for 30.0 s";
          return row.is(HealthStatus.CRASHED);
        });
    assertFound("worker_crash_loop");
    assertThat(found().getFirst().message())
        .contains("keeps crashing: it reported nothing for 30.0 s;")
        .doesNotContain("137");
    assertThat(found().getFirst().cliHint()).doesNotContain("dmesg");
  }

  @Test
  void one_that_could_not_be_started_says_that_and_not_how_the_one_before_it_ended() {
    add(
        row -> {
          row.exit = 1;
          row.reason = "its process could not be started: no such file; 5 restarts within 300 s";
          return row.is(HealthStatus.FAILED);
        });
    assertThat(found().getFirst().message())
        .isEqualTo(
            TAG
                + " has failed and is not restarted any more: its process could not be started: no"
                + " such file; 5 restarts within 300 s");
    assertThat(found().getFirst().cliHint()).doesNotContain("stack trace");
  }

  @Test
  void one_that_failed_needs_an_operator() {
    crashed(HealthStatus.FAILED, 5);
    queues.add(queue(5, 0, 3_600));
    // And nobody is told to start a worker of another kind for its queue.
    assertFound("worker_failed");
    assertThat(found().getFirst().cliHint())
        .contains("'holdfast logs worker:tag:0'", "'holdfast workers resume worker:tag:0'");
    assertThat(found().getFirst().httpHint()).contains("POST /v1/workers/worker:tag:0/resume");
  }

  @Test
  void one_that_is_healthy_and_idle_while_jobs_wait_is_told() {
    add(row -> row);
    queues.add(queue(5, 0, 31));
    assertFound("worker_not_processing");
    assertThat(found().getFirst().cliHint())
        .contains("'holdfast logs worker:tag:0'", "'holdfast workers restart worker:tag:0'");
  }

  @Test
  void a_handler_that_goes_on_is_told_whatever_else_its_worker_does() {
    add(
        row -> {
          row.reason = "a handler of kind 'spin' goes on";
          row.job = JobId.next();
          return row;
        });
    assertFound("handler_overdue");
    assertThat(found().getFirst().message())
        .isEqualTo("worker:tag:0 is healthy, but a handler of kind 'spin' goes on");
    assertThat(found().getFirst().cliHint()).contains("'holdfast workers restart worker:tag:0'");
    assertThat(found().getFirst().httpHint()).contains("POST /v1/workers/worker:tag:0/restart");
  }

  @Test
  void one_that_has_just_started_is_not_blamed_for_what_waits() {
    add(
        row -> {
          row.age = 10;
          return row;
        });
    queues.add(queue(5, 0, 31));
    assertFound();
  }

  @Test
  void one_that_is_at_a_job_or_holds_one_is_not_idle() {
    add(
        row -> {
          row.job = JobId.next();
          return row;
        });
    queues.add(queue(5, 1, 31));
    assertFound();
    processes.clear();
    add(row -> row);
    assertFound("worker_not_processing");
    holders.add(holder(TAG + "@host.77.ab1", 60));
    assertFound();
  }

  @Test
  void nobody_is_blamed_for_limits_and_keys() {
    add(row -> row);
    QueueStatus full = queue(5, 2, 31);
    for (QueueStatus held :
        List.of(
            limited(full, 2, null, false),
            limited(full, null, 10, false),
            new QueueStatus(
                "tag", 5, 0, 0, 0, 1, null, null, null, Duration.ofHours(1), null, false, null))) {
      queues.clear();
      queues.add(held);
      assertFound();
    }
    queues.clear();
    queues.add(limited(full, 3, null, false));
    assertFound("worker_not_processing");
    queues.clear();
    queues.add(limited(full, 3, null, true));
    assertFound("queue_paused");
  }

  @Test
  void a_pause_of_one_worker_is_told_while_jobs_wait() {
    add(
        row -> {
          row.paused = true;
          return row;
        });
    assertFound();
    queues.add(queue(5, 0, 3_600));
    assertFound("worker_paused");
    assertThat(found().getFirst().cliHint()).contains("holdfast workers resume " + TAG);
  }

  private void stopped(String component) {
    add(
        row -> {
          row.component = component;
          row.status = HealthStatus.STOPPING;
          row.pid = null;
          return row;
        });
  }

  @Test
  void a_stopped_worker_is_told_when_jobs_wait_and_nobody_else_serves_them() {
    stopped(TAG);
    assertFound();
    queues.add(queue(5, 0, 10));
    assertFound("worker_stopped");
    add(
        row -> {
          row.component = "worker:tag:1";
          return row;
        });
    assertFound();
    processes.removeLast();
    holders.add(holder("worker:tag:7@elsewhere.1.x", 60));
    assertFound();
    holders.clear();
    waitedFor = Set.of("tag");
    assertFound();
  }

  @Test
  void one_that_is_about_to_be_started_anew_is_not_stopped() {
    add(
        row -> {
          row.status = HealthStatus.STOPPING;
          row.pid = null;
          row.next = NOW;
          return row;
        });
    queues.add(queue(5, 0, 10));
    assertFound();
  }

  @Test
  void a_supervisor_that_is_silent_is_told_once_with_its_workers() {
    supervisors.clear();
    supervisors.add(supervisor(31));
    crashed(HealthStatus.FAILED, 5);
    stopped("worker:tag:1");
    queues.add(queue(5, 0, 3_600));
    assertFound("supervisor_silent");
    assertThat(found().getFirst().message()).contains("'here'", TAG, "worker:tag:1");
    assertThat(found().getFirst().cliHint()).contains("holdfast supervise");
  }

  @Test
  void a_silent_process_of_a_supervisor_that_is_there_is_told() {
    add(
        row -> {
          row.silent = 31;
          return row;
        });
    assertFound("worker_silent");
  }

  @Test
  void the_supervisor_is_named_where_two_have_such_a_component() {
    supervisors.add(new SupervisorHealth("there", "other", NOW, Duration.ZERO));
    crashed(HealthStatus.FAILED, 5);
    add(
        row -> {
          row.supervisor = "there";
          return row;
        });
    assertThat(found()).hasSize(1);
    assertThat(found().getFirst().message()).contains(TAG + " of supervisor 'here'");
  }

  private static Holder holder(String name, long leaseSeconds) {
    return new Holder(name, 1, List.of(), NOW, NOW.plusSeconds(leaseSeconds), NOW, List.of("tag"));
  }

  @Test
  void a_worker_without_a_supervisor_is_known_by_its_leases() {
    holders.add(holder("w1", 60));
    assertFound();
    holders.add(holder("w2", -1));
    assertFound("worker_silent");
    assertThat(found().getFirst().message()).contains("'w2'");
  }

  // ---- queues, jobs, schedules

  @Test
  void a_pause_of_all_workers_is_told_while_jobs_wait_and_explains_what_stands_still() {
    allPaused = NOW.minusSeconds(60);
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
  void a_queue_that_nobody_serves_is_told() {
    queues.add(queue(5, 0, 61));
    assertFound("queue_stalled");
    assertThat(found().getFirst().message())
        .isEqualTo("5 jobs of queue 'tag' are due and no worker takes them");
    queues.set(0, queue(1, 0, 61));
    assertThat(found().getFirst().message())
        .isEqualTo("1 job of queue 'tag' is due and no worker takes it");
    waitedFor = Set.of("tag");
    assertFound();
    waitedFor = Set.of();
    queues.set(0, queue(5, 1, 61));
    assertFound();
  }

  private static QueueStatus pushed(long due, @Nullable DispatchError trouble) {
    Duration waits = due == 0 ? null : Duration.ofSeconds(61);
    return new QueueStatus("tag", due, 0, 0, 0, 0, null, null, null, waits, waits, true, trouble);
  }

  @Test
  void a_queue_that_no_server_pushes_is_told_without_a_word_of_workers() {
    queues.add(pushed(5, null));
    assertFound("queue_stalled");
    assertThat(found().getFirst().message())
        .isEqualTo("5 jobs of queue 'tag' are due and no server pushes them");
    assertThat(found().getFirst().cliHint()).contains("holdfast server").doesNotContain("worker");
  }

  @ParameterizedTest
  @EnumSource(DispatchError.Kind.class)
  void why_tasks_do_not_reach_the_worker_they_are_pushed_to_is_told(DispatchError.Kind kind) {
    String code =
        switch (kind) {
          case UNREACHABLE -> "dispatch_unreachable";
          case FAILING -> "dispatch_failing";
          case SECRET_REFUSED -> "dispatch_secret_refused";
          case NOT_ALLOWED -> "dispatch_not_allowed";
        };
    DispatchError trouble = new DispatchError(kind, "status 503", false, NOW);
    queues.add(pushed(5, trouble));
    assertFound(code);
    assertThat(found().getFirst().message())
        .contains("'tag'", "status 503")
        .doesNotContain("pauses");
    assertThat(found().getFirst().cliHint()).doesNotContain("holdfast worker");
    queues.set(0, pushed(5, new DispatchError(kind, "status 503", true, NOW)));
    assertThat(found().getFirst().message()).contains("pauses");
    // With nothing to push nobody is kept waiting; but what a wrong secret failed is gone.
    queues.set(0, pushed(0, trouble));
    if (kind == DispatchError.Kind.SECRET_REFUSED) {
      assertFound(code);
    } else {
      assertFound();
    }
  }

  @Test
  void toxic_jobs_are_told_with_how_to_find_them() {
    warnings = new Warnings(3, 2, 0);
    assertFound("toxic_jobs", "jobs_failed");
    assertThat(found().getFirst().message()).startsWith("2 jobs");
    assertThat(found().getFirst().cliHint()).contains("TOXIC_JOB", "holdfast jobs show");
    assertThat(found().getFirst().httpHint()).contains("q=TOXIC_JOB");
  }

  @Test
  void leases_that_nobody_takes_back_are_told() {
    warnings = new Warnings(0, 0, 4);
    assertFound("leases_overdue");
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
        MissedFires.ONCE,
        true,
        Json.EMPTY,
        nextAt,
        null,
        pausedAt,
        broken);
  }

  @Test
  void a_schedule_that_nobody_fires_is_told_unless_it_is_paused() {
    schedules.add(schedule(NOW.minusSeconds(30), null, null));
    schedules.add(schedule(NOW.minusSeconds(61), NOW, null));
    assertFound();
    schedules.add(schedule(NOW.minusSeconds(61), null, null));
    assertFound("schedule_overdue");
  }

  @Test
  void a_schedule_that_cannot_be_fired_is_told_with_its_name_unless_it_is_paused() {
    schedules.add(schedule(NOW.minusSeconds(61), NOW, "its time zone 'Moon' is not known here"));
    assertFound();
    schedules.add(schedule(NOW.minusSeconds(61), null, "its time zone 'Moon' is not known here"));
    assertFound("schedule_broken");
    assertThat(found().getFirst().message()).contains("'nightly'").contains("'Moon'");
  }
}
