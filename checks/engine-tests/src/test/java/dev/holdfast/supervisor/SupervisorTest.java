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
import dev.holdfast.testkit.OnlyWithAll;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Supervision of real processes: crashes, hangs, full heaps and restarts. */
@OnlyWithAll
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(DatabaseExtension.class)
class SupervisorTest extends SupervisorFixture {
  @Test
  void a_worker_becomes_healthy_and_nothing_is_left_after_close() throws Exception {
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
    assertThat(tail()).contains("*** good", "healthy", "heard stop", "--- ended: 0 (clean)");
    Supervisor next = supervise(NAME, "good");
    assertThat(next.awaitHealthy(SOON)).isTrue();
    until(() -> tail().indexOf("healthy") < tail().lastIndexOf("healthy"));
  }

  @Test
  void the_job_of_a_killed_worker_is_requeued_at_once_and_the_worker_restarted() throws Exception {
    JobId job = add();
    Supervisor supervisor = supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    assertThat(state(job)).isEqualTo(JobState.RUNNING);
    signal("KILL", pid(first));
    WorkerHealth second = untilHealthy(2);
    assertThat(second.restarts()).isEqualTo(1);
    assertThat(second.lastRestart()).isNotNull();
    assertThat(second.exitCode()).isEqualTo(137);
    assertThat(pid(second)).isNotEqualTo(pid(first));
    assertThat(health.exits().of(TAG, NAME))
        .singleElement()
        .satisfies(
            exit -> {
              assertThat(exit.pid()).isEqualTo(first.pid());
              assertThat(exit.exit()).isEqualTo(WorkerExit.of(137));
              assertThat(exit.status()).isEqualTo(HealthStatus.CRASHED);
              assertThat(exit.reason()).contains("SIGKILL");
              assertThat(exit.startedAt()).isBefore(exit.endedAt());
            });
    // The lease was good for another five minutes.
    until(() -> store.queries().attempts(job).size() == 2);
    assertThat(store.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
    assertThat(health.supervisors().recovered())
        .singleElement()
        .satisfies(
            counted -> {
              assertThat(counted.by().name()).isEqualTo(NAME);
              assertThat(counted.requeued()).isEqualTo(1);
              assertThat(counted.ended()).isZero();
            });
    assertThat(supervisor.recovered()).isEqualTo(new Supervisor.Recovered(1, 0));
  }

  @Test
  void a_worker_that_exits_with_an_error_is_failed_after_its_restarts() throws Exception {
    supervise(NAME, "exit=9");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.restarts()).isEqualTo(3);
    assertThat(failed.incarnation()).isEqualTo(4);
    assertThat(failed.exitCode()).isEqualTo(WorkerExit.HANDLERS);
    assertThat(failed.reason()).contains("9 (handlers)", "3 restarts within 10 minutes");
    assertThat(failed.pid()).isNull();
    assertThat(failed.nextRestart()).isNull();
    // A pause and a resume do not reset the count: it may try once, and has failed again.
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
            clock.addAndGet(Duration.ofMillis(500).toNanos());
            return row.incarnation() == now + 1;
          });
    }
  }

  @Test
  void a_restart_that_waited_for_the_database_counts_from_when_it_took_place() throws Exception {
    AtomicLong clock = new AtomicLong(System.nanoTime());
    nanos = clock::get;
    boot = Duration.ofDays(100);
    silence = Duration.ofDays(100);
    Duration hour = Duration.ofHours(1);
    policy = new RestartPolicy(1, hour, 20, LONG, hour, hour);
    supervise(NAME, "exit=9");
    until(row -> row.status() == HealthStatus.CRASHED);
    try (Connection holder = db.dataSource().getConnection()) {
      holder.setAutoCommit(false);
      try (Statement lock = holder.createStatement()) {
        lock.execute("SELECT 1 FROM holdfast.health FOR UPDATE");
      }
      clock.addAndGet(hour.toNanos());
      until(
          () ->
              db.count(
                      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
                  > 0);
      clock.addAndGet(hour.toNanos());
      holder.commit();
    }
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("1 restart within 60 minutes");
    assertThat(failed.restarts()).isEqualTo(1);
    assertThat(failed.incarnation()).isEqualTo(2);
  }

  @Test
  void a_worker_that_keeps_crashing_does_not_affect_another() {
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
    assertThat(store.queries().find(job).orElseThrow().crashes()).isLessThanOrEqualTo(3);
  }

  @Test
  void only_the_third_crash_makes_a_job_toxic() {
    JobId job = add();
    supervise(NAME, "exit=1");
    until(row -> row.status() == HealthStatus.FAILED);
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    assertThat(Objects.requireNonNull(store.queries().find(job).orElseThrow().failure()).code())
        .isEqualTo("TOXIC_JOB");
    assertThat(store.queries().find(job).orElseThrow().crashes()).isEqualTo(3);
  }

  @Test
  void a_full_heap_ends_the_process_and_is_reported_as_the_reason() throws Exception {
    supervise(NAME, "memory");
    WorkerHealth crashed = until(row -> row.exitCode() != null);
    assertThat(crashed.exitCode()).isEqualTo(WorkerExit.OUT_OF_MEMORY);
    assertThat(log()).contains("OutOfMemoryError", "3 (out of memory)");
  }

  @Test
  void a_worker_that_is_not_healthy_by_its_boot_deadline_is_killed_and_failed() {
    boot = Duration.ofMillis(300);
    supervise(NAME, "hang");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("not healthy 0.3 s after its start");
    assertThat(failed.exitCode()).isEqualTo(137);
  }

  @Test
  void a_worker_with_an_overdue_handler_is_restarted_without_counting_a_crash() throws Exception {
    recycle = Duration.ofMillis(100);
    supervise(NAME, "overdue");
    WorkerHealth second = until(row -> row.incarnation() == 2);
    assertThat(second.restarts()).isZero();
    assertThat(log()).contains("heard stop", "--- ended: 0 (clean)");
  }

  @Test
  void a_worker_with_an_overdue_handler_is_not_restarted_at_once() {
    supervise(NAME, "overdue");
    WorkerHealth row = until(healthy -> healthy.reason() != null);
    assertThat(row.status()).isEqualTo(HealthStatus.HEALTHY);
    assertThat(row.reason()).isEqualTo("a handler still runs");
    assertThat(row.incarnation()).isEqualTo(1);
  }

  @Test
  void a_silent_worker_counts_as_crashed_and_is_killed() throws Exception {
    JobId job = add();
    silence = Duration.ofSeconds(2);
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    signal("STOP", pid(first));
    until(row -> row.incarnation() == 2);
    assertThat(Living.is(pid(first))).isFalse();
    assertThat(store.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
    assertThat(log()).contains("it reported nothing for 2.0 s");
  }

  @Test
  void no_worker_counts_as_silent_while_the_supervisor_waits_for_the_database() throws Exception {
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
  void the_exit_of_a_process_that_ended_at_once_is_stored_with_its_pid() throws Exception {
    policy = new RestartPolicy(0, LONG, 0, LONG, Duration.ZERO, Duration.ZERO);
    supervise(
        NAME, List.of(new WorkerCommandLine(TAG, List.of("/bin/sh", "-c", "exit 9"), Map.of())));
    until(row -> row.status() == HealthStatus.FAILED);
    assertThat(health.exits().of(TAG, NAME))
        .singleElement()
        .satisfies(
            exit -> {
              assertThat(exit.pid()).isNotNull();
              assertThat(exit.startedAt()).isNotNull();
              assertThat(log()).contains("--- process " + exit.pid() + " of " + TAG);
            });
  }

  @Test
  void restarts_beyond_the_lifetime_limit_fail_it_although_it_was_healthy_between_them()
      throws Exception {
    policy = new RestartPolicy(9, LONG, 3, Duration.ofMillis(300), Duration.ZERO, Duration.ZERO);
    supervise(NAME, "good");
    for (int incarnation = 1; incarnation <= 4; incarnation++) {
      signal("KILL", pid(untilHealthy(incarnation)));
      if (incarnation < 4) {
        int next = incarnation + 1;
        untilHealthy(next);
        assertThat(until(row -> row.restarts() == 0).totalRestarts()).isEqualTo(incarnation);
      }
    }
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("3 restarts in total");
    assertThat(failed.totalRestarts()).isEqualTo(3);
    order(WorkerCommand.Action.RESTART);
    assertThat(untilHealthy(5).totalRestarts()).isZero();
  }

  @Test
  void the_restart_count_is_reset_after_enough_healthy_time() throws Exception {
    policy = new RestartPolicy(3, LONG, 20, Duration.ofMillis(500), Duration.ZERO, Duration.ZERO);
    supervise(NAME, "good");
    signal("KILL", pid(untilHealthy(1)));
    untilHealthy(2);
    until(row -> row.restarts() == 0 && row.incarnation() == 2);
  }

  @Test
  void a_worker_that_exits_with_0_without_a_stop_counts_as_crashed() {
    supervise(NAME, "exit=0");
    WorkerHealth failed = until(row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.reason()).contains("0 (clean)");
  }
}
