package dev.holdfast.supervisor;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Living;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Real processes, watched and started again: they crash, hang, fill their memory. */
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(DatabaseExtension.class)
class SupervisorTest extends SupervisorFixture {
  @Test
  void a_worker_becomes_healthy_and_at_the_end_nothing_is_left() throws Exception {
    Supervisor supervisor = supervise(NAME, "good", "good");
    assertThat(supervisor.awaitHealthy(SOON)).isTrue();
    assertThat(health.readings().of(NAME))
        .extracting(WorkerHealth::component)
        .containsExactly(TAG, "worker:tag:1");
    long pid = pid(row());
    assertThat(row().restarts()).isZero();
    assertThat(row().processStartedAt()).isNotNull();
    supervisor.close();
    assertThat(Living.is(pid)).isFalse();
    assertThat(health.readings().of(NAME)).isEmpty();
    assertThat(health.supervisors().find(NAME)).isEmpty();
    assertThat(log()).contains("plays good", "healthy", "heard stop", "--- ended: 0 (clean)");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(WorkerLog.file(folder.resolve("logs"), TAG))))
        .isEqualTo("rw-------");
  }

  @Test
  void a_killed_one_gives_its_job_back_at_once_and_is_started_again_in_its_place()
      throws Exception {
    JobId job = add();
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    assertThat(state(job)).isEqualTo(JobState.RUNNING);
    signal("KILL", pid(first));
    WorkerHealth second = untilHealthy(2);
    assertThat(second.restarts()).isEqualTo(1);
    assertThat(second.lastRestart()).isNotNull();
    assertThat(second.exitCode()).isEqualTo(137);
    assertThat(pid(second)).isNotEqualTo(pid(first));
    // The lease was good for another five minutes.
    until(() -> queue.queries().attempts(job).size() == 2);
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
    assertThat(health.supervisors().recovered())
        .singleElement()
        .satisfies(
            counted -> {
              assertThat(counted.by().name()).isEqualTo(NAME);
              assertThat(counted.requeued()).isEqualTo(1);
              assertThat(counted.ended()).isZero();
            });
  }

  @Test
  void one_that_ends_with_an_exit_code_is_named_and_given_up_after_its_restarts() throws Exception {
    supervise(NAME, "exit=9");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.restarts()).isEqualTo(3);
    assertThat(failed.incarnation()).isEqualTo(4);
    assertThat(failed.exitCode()).isEqualTo(WorkerExit.HANDLERS);
    assertThat(failed.reason()).contains("9 (handlers)", "3 restarts within 10 minutes");
    assertThat(failed.pid()).isNull();
    assertThat(failed.nextRestart()).isNull();
    // A pause and a resume do not talk it down: it may try once, and has failed again.
    order(WorkerCommand.Action.PAUSE);
    order(WorkerCommand.Action.RESUME);
    WorkerHealth again =
        until(row -> row.status() == HealthStatus.FAILED && row.incarnation() == 5);
    assertThat(again.restarts()).isEqualTo(3);
  }

  @Test
  void each_restart_waits_twice_as_long_by_the_supervisors_own_clock() {
    AtomicLong clock = new AtomicLong(System.nanoTime());
    nanos = clock::get;
    boot = Duration.ofDays(100);
    silence = Duration.ofDays(100);
    policy =
        new RestartPolicy(
            100, Duration.ofDays(1), 100, LONG, Duration.ofHours(1), Duration.ofHours(3));
    supervise(NAME, "exit=1");
    int incarnation = 1;
    for (int hours : new int[] {1, 2, 3, 3}) {
      int now = incarnation++;
      WorkerHealth crashed =
          until(row -> row.status() == HealthStatus.CRASHED && row.incarnation() == now);
      assertThat(Duration.between(crashed.readAt(), crashed.nextRestart()))
          .isBetween(Duration.ofHours(hours).minusMinutes(5), Duration.ofHours(hours));
      clock.addAndGet(Duration.ofHours(hours).toNanos() - 1);
      await()
          .during(Duration.ofMillis(300))
          .atMost(SOON)
          .until(() -> row().status() == HealthStatus.CRASHED && row().incarnation() == now);
      // It goes on, slowly: what could not be written at once is tried again by this clock, too.
      until(
          row -> {
            clock.addAndGet(Duration.ofMillis(20).toNanos());
            return row.incarnation() == now + 1;
          });
    }
  }

  @Test
  void a_worker_that_keeps_crashing_does_not_hurt_another() {
    JobId job = add();
    supervise(NAME, "exit=1", "good");
    until(row -> row.status() == HealthStatus.FAILED);
    assertThat(
            health.readings().of(NAME).stream()
                .filter(row -> row.component().equals("worker:tag:1"))
                .findFirst()
                .orElseThrow()
                .restarts())
        .isZero();
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isLessThanOrEqualTo(3);
  }

  @Test
  void the_third_crash_makes_its_job_toxic_and_no_earlier_one() {
    JobId job = add();
    supervise(NAME, "exit=1");
    until(row -> row.status() == HealthStatus.FAILED);
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    assertThat(Objects.requireNonNull(queue.queries().find(job).orElseThrow().failure()).code())
        .isEqualTo("TOXIC_JOB");
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(3);
  }

  @Test
  void a_full_heap_ends_the_process_and_has_a_name() throws Exception {
    supervise(NAME, "memory");
    WorkerHealth crashed = until(row -> row.exitCode() != null);
    assertThat(crashed.exitCode()).isEqualTo(WorkerExit.OUT_OF_MEMORY);
    assertThat(log()).contains("OutOfMemoryError", "3 (out of memory)");
  }

  @Test
  void one_that_never_becomes_healthy_is_caught_by_its_boot_deadline() {
    boot = Duration.ofMillis(300);
    supervise(NAME, "hang");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("not healthy 0.3 s after its start");
    assertThat(failed.exitCode()).isEqualTo(137);
  }

  @Test
  void one_whose_handler_goes_on_is_started_anew_and_that_is_no_crash() throws Exception {
    recycle = Duration.ofMillis(100);
    supervise(NAME, "overdue");
    WorkerHealth second = until(row -> row.incarnation() == 2);
    assertThat(second.restarts()).isZero();
    assertThat(log()).contains("heard stop", "--- ended: 0 (clean)");
  }

  @Test
  void one_whose_handler_goes_on_is_left_alone_for_a_while() {
    supervise(NAME, "overdue");
    WorkerHealth row = until(healthy -> healthy.reason() != null);
    assertThat(row.status()).isEqualTo(HealthStatus.HEALTHY);
    assertThat(row.reason()).isEqualTo("a handler goes on");
    assertThat(row.incarnation()).isEqualTo(1);
  }

  @Test
  void one_that_is_silent_counts_as_crashed_and_is_killed() throws Exception {
    JobId job = add();
    silence = Duration.ofSeconds(2);
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    signal("STOP", pid(first));
    until(row -> row.incarnation() == 2);
    assertThat(Living.is(pid(first))).isFalse();
    assertThat(queue.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
    assertThat(log()).contains("it reported nothing for 2.0 s");
  }

  @Test
  void nobody_is_silent_while_the_database_keeps_its_supervisor_waiting() throws Exception {
    silence = Duration.ofSeconds(1);
    assertThat(supervise(NAME, "good").awaitHealthy(SOON)).isTrue();
    long pid = pid(row());
    Instant lastSeen;
    try (Connection holder = db.dataSource().getConnection()) {
      holder.setAutoCommit(false);
      try (Statement lock = holder.createStatement()) {
        lock.execute("LOCK TABLE holdfast.supervisor IN EXCLUSIVE MODE");
      }
      lastSeen = supervisorSeen();
      signal("STOP", pid);
      // Longer than silence may last.
      Thread.sleep(1_500);
      holder.commit();
    }
    until(() -> supervisorSeen().isAfter(lastSeen));
    // And it may take a worker as long again to find the database.
    Thread.sleep(1_500);
    signal("CONT", pid);
    Instant beat = row().lastSeen();
    assertThat(until(row -> row.lastSeen().isAfter(beat)).incarnation()).isEqualTo(1);
    assertThat(pid(row())).isEqualTo(pid);
  }

  private Instant supervisorSeen() {
    return health.supervisors().all().getFirst().lastSeen();
  }

  @Test
  void health_for_long_enough_wears_the_restarts_off() throws Exception {
    policy = new RestartPolicy(3, LONG, 20, Duration.ofMillis(500), Duration.ZERO, Duration.ZERO);
    supervise(NAME, "good");
    signal("KILL", pid(untilHealthy(1)));
    untilHealthy(2);
    until(row -> row.restarts() == 0 && row.incarnation() == 2);
  }

  @Test
  void one_that_ends_well_without_having_been_told_to_has_crashed() {
    supervise(NAME, "exit=0");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("0 (clean)");
  }
}
