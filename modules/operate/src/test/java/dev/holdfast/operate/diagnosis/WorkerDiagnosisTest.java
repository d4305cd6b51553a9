package dev.holdfast.operate.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.SupervisorHealth;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Findings about worker processes and supervisors: when each is reported, and its text. */
class WorkerDiagnosisTest extends DiagnosisFixture {
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
        null,
        queue.oldest(),
        queue.oldestFree(),
        null);
  }

  // ---- worker processes

  @Test
  void a_worker_that_takes_too_long_to_start_is_reported() {
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
  void a_single_crash_is_not_a_crash_loop() {
    crashed(HealthStatus.CRASHED, 1);
    assertFound();
  }

  @Test
  void a_crash_loop_is_reported_with_the_exit_by_name_and_the_next_start() {
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
  void a_worker_restarted_by_an_operator_is_not_in_a_crash_loop() {
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
  void a_worker_that_hangs_repeatedly_is_not_reported_as_out_of_memory() {
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
  void a_failed_start_is_reported_and_not_the_exit_of_the_previous_process() {
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
  void a_failed_worker_is_reported_as_needing_an_operator() {
    crashed(HealthStatus.FAILED, 5);
    queues.add(queue(5, 0, 3_600));
    // There is no second finding that asks for a worker of this queue.
    assertFound("worker_failed");
    assertThat(found().getFirst().cliHint())
        .contains("'holdfast logs worker:tag:0'", "'holdfast workers resume worker:tag:0'");
    assertThat(found().getFirst().httpHint()).contains("POST /v1/workers/worker:tag:0/resume");
  }

  @Test
  void a_healthy_idle_worker_is_reported_while_jobs_wait() {
    add(row -> row);
    queues.add(queue(5, 0, 31));
    assertFound("worker_not_processing");
    assertThat(found().getFirst().cliHint())
        .contains("'holdfast logs worker:tag:0'", "'holdfast workers restart worker:tag:0'");
  }

  @Test
  void an_overdue_handler_is_reported_though_its_worker_runs_a_job() {
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
  void a_worker_that_has_just_started_is_not_reported_as_idle() {
    add(
        row -> {
          row.age = 10;
          return row;
        });
    queues.add(queue(5, 0, 31));
    assertFound();
  }

  @Test
  void a_worker_that_runs_a_job_or_has_a_lease_is_not_idle() {
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
  void no_worker_is_reported_as_idle_because_of_limits_and_keys() {
    add(row -> row);
    QueueStatus full = queue(5, 2, 31);
    for (QueueStatus held :
        List.of(
            limited(full, 2, null, false),
            limited(full, null, 10, false),
            new QueueStatus(
                "tag", 5, 0, 0, 0, 1, null, null, null, null, Duration.ofHours(1), null, null))) {
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
  void a_pause_of_one_worker_is_reported_while_jobs_wait() {
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
  void a_stopped_worker_is_reported_when_jobs_wait_and_no_other_serves_them() {
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
    waitedFor = Set.of();
    pollers.add(new Poller("py-1", List.of("tag"), NOW));
    assertFound();
  }

  @Test
  void a_worker_about_to_be_restarted_is_not_reported_as_stopped() {
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
  void a_supervisor_that_is_silent_is_reported_once_with_its_workers() {
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
  void a_silent_process_of_a_live_supervisor_is_reported() {
    add(
        row -> {
          row.silent = 31;
          return row;
        });
    assertFound("worker_silent");
  }

  @Test
  void the_supervisor_is_named_if_two_have_the_same_component() {
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
  void a_worker_without_a_supervisor_is_identified_by_its_leases() {
    holders.add(holder("w1", 60));
    assertFound();
    holders.add(holder("w2", -1));
    assertFound("worker_silent");
    assertThat(found().getFirst().message()).contains("'w2'");
  }
}
