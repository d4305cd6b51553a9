package dev.holdfast.queue.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.assertj.core.data.TemporalUnitOffset;
import org.junit.jupiter.api.Test;

/** Worker processes in the database: rows, fences, orders. */
class WorkerRegistryTest extends WorkerRegistryFixture {
  private static final Json DETAILS = new Json("{\"places\": 4}");

  private static WorkerProcesses.Place place(int incarnation) {
    return new WorkerProcesses.Place(HERE, TAG, incarnation);
  }

  private WorkerHealth row() {
    assertThat(health.readings().of(HERE)).hasSize(1);
    return health.readings().of(HERE).getFirst();
  }

  private void start(int incarnation) {
    health.processes().starting(place(incarnation), incarnation - 1, false);
    health.processes().spawned(place(incarnation), 4_711, Instant.EPOCH);
  }

  @Test
  void a_process_goes_from_starting_to_healthy_to_stopping() {
    start(1);
    assertThat(row().status()).isEqualTo(HealthStatus.STARTING);
    assertThat(row().pid()).isEqualTo(4_711);
    assertThat(row().processStartedAt()).isEqualTo(Instant.EPOCH);
    JobId job = JobId.next();
    assertThat(health.processes().beat(place(1), HealthStatus.HEALTHY, 4_711, job, DETAILS))
        .isTrue();
    assertThat(row().status()).isEqualTo(HealthStatus.HEALTHY);
    assertThat(row().currentJob()).isEqualTo(job);
    assertThat(row().details().text()).contains("places");
    assertThat(row().silentFor()).isLessThan(Duration.ofSeconds(20));
    assertThat(row().queue()).isEqualTo("tag");
    assertThat(health.processes().beat(place(1), HealthStatus.STOPPING, 4_711, null, DETAILS))
        .isTrue();
    // A heartbeat that was sent before the stop and arrives after it.
    assertThat(health.processes().beat(place(1), HealthStatus.HEALTHY, 4_711, null, DETAILS))
        .isTrue();
    assertThat(row().status()).isEqualTo(HealthStatus.STOPPING);
    health.processes().ended(place(1), HealthStatus.STOPPING, 0, "stopped by ada: no need", null);
    assertThat(row().isStopped()).isTrue();
    assertThat(row().exitCode()).isZero();
    assertThat(row().nextRestart()).isNull();
  }

  @Test
  void a_silent_starting_process_is_crashed_only_if_its_supervisor_is_silent_too() {
    supervisor();
    start(1);
    silence("health");
    assertThat(row().effectiveStatus()).isEqualTo(HealthStatus.STARTING);
    assertThat(row().why()).isNull();
    silence("supervisor");
    assertThat(row().effectiveStatus()).isEqualTo(HealthStatus.CRASHED);
    assertThat(row().why()).startsWith("no report since");
  }

  @Test
  void a_process_may_be_silent_for_as_long_as_it_reported() {
    supervisor();
    start(1);
    health.processes().beat(place(1), HealthStatus.HEALTHY, 4_711, null, DETAILS);
    silence("health");
    assertThat(row().effectiveStatus()).isEqualTo(HealthStatus.CRASHED);
    Json patient = new Json("{\"silentAfterMs\": 180000}");
    health.processes().beat(place(1), HealthStatus.HEALTHY, 4_711, null, patient);
    silence("health");
    assertThat(row().effectiveStatus()).isEqualTo(HealthStatus.HEALTHY);
    health
        .processes()
        .beat(place(1), HealthStatus.HEALTHY, 4_711, null, new Json("{\"silentAfterMs\": 5}"));
    silence("health");
    assertThat(row().effectiveStatus()).isEqualTo(HealthStatus.CRASHED);
  }

  @Test
  void a_next_restart_is_not_shown_while_the_supervisor_is_silent() {
    supervisor();
    start(1);
    health.processes().ended(place(1), HealthStatus.CRASHED, 1, "exit 1", Duration.ofHours(1));
    assertThat(row().nextRestart()).isNotNull();
    silence("supervisor");
    assertThat(row().nextRestart()).isNull();
  }

  @Test
  void a_process_that_was_told_to_stop_is_stopping_whatever_it_reports() {
    start(1);
    health
        .processes()
        .beat(place(1), HealthStatus.HEALTHY, 4_711, null, "a handler still runs", DETAILS);
    health.processes().stopping(place(1), "stopped by ada: no need");
    health
        .processes()
        .beat(place(1), HealthStatus.HEALTHY, 4_711, null, "a handler still runs", DETAILS);
    assertThat(row().status()).isEqualTo(HealthStatus.STOPPING);
    assertThat(row().isStopped()).isFalse();
    assertThat(row().reason()).isEqualTo("stopped by ada: no need");
    health.processes().ended(place(1), HealthStatus.CRASHED, 1, "exit 1", null);
    health.processes().stopping(place(1), "too late");
    assertThat(row().status()).isEqualTo(HealthStatus.CRASHED);
  }

  private void silence(String table) {
    db.sql("UPDATE holdfast." + table + " SET last_seen = last_seen - interval '90 seconds'");
  }

  @Test
  void a_crash_is_reported_with_its_exit_code_and_the_next_start() {
    supervisor();
    start(1);
    health
        .processes()
        .ended(place(1), HealthStatus.CRASHED, 137, "exit 137", Duration.ofSeconds(4));
    assertThat(row().status()).isEqualTo(HealthStatus.CRASHED);
    assertThat(row().pid()).isNull();
    assertThat(row().exitCode()).isEqualTo(137);
    assertThat(row().nextRestart())
        .isBetween(queries.now().minusSeconds(10), queries.now().plusSeconds(5));
    start(2);
    assertThat(row().restarts()).isEqualTo(1);
    assertThat(row().lastRestart()).isCloseTo(queries.now(), within());
    assertThat(row().isStartedAfterCrash()).isTrue();
    assertThat(row().exitCode()).isEqualTo(137);
    assertThat(row().reason()).isEqualTo("exit 137");
    health.processes().beat(place(2), HealthStatus.HEALTHY, 4_712, null, DETAILS);
    assertThat(row().reason()).isNull();
    health
        .processes()
        .beat(place(2), HealthStatus.HEALTHY, 4_712, null, "a handler still runs", DETAILS);
    assertThat(row().reason()).isEqualTo("a handler still runs");
    health.processes().beat(place(2), HealthStatus.HEALTHY, 4_712, null, DETAILS);
    assertThat(row().reason()).isNull();
    health.processes().ended(place(2), HealthStatus.STOPPING, 0, "restarted by ada", Duration.ZERO);
    assertThat(row().isStopped()).isFalse();
    health.processes().starting(place(3), 1, false);
    assertThat(row().isStartedAfterCrash()).isFalse();
    health.processes().resetRestarts(place(3));
    assertThat(row().restarts()).isZero();
  }

  private static TemporalUnitOffset within() {
    return Assertions.within(20, ChronoUnit.SECONDS);
  }

  @Test
  void a_heartbeat_of_a_process_reported_as_ended_is_rejected() {
    start(1);
    health.processes().ended(place(1), HealthStatus.CRASHED, null, "silent", Duration.ZERO);
    assertThat(health.processes().beat(place(1), HealthStatus.HEALTHY, 1, null, DETAILS)).isFalse();
    assertThat(row().status()).isEqualTo(HealthStatus.CRASHED);
    start(2);
    assertThat(health.processes().beat(place(1), HealthStatus.HEALTHY, 1, null, DETAILS)).isFalse();
    assertThat(row().status()).isEqualTo(HealthStatus.STARTING);
    assertThat(health.processes().beat(place(2), HealthStatus.HEALTHY, 2, null, DETAILS)).isTrue();
  }

  @Test
  void one_name_has_one_supervisor_at_a_time() {
    Supervisors.Supervising first = new Supervisors.Supervising(HERE, "host", 1, Instant.EPOCH);
    Supervisors.Supervising second = new Supervisors.Supervising(HERE, "host", 2, Instant.EPOCH);
    assertThat(health.supervisors().find(HERE)).isEmpty();
    assertThat(health.supervisors().appear(first)).isTrue();
    assertThat(health.supervisors().appear(second)).isFalse();
    assertThat(health.supervisors().find(HERE).orElseThrow().supervising()).isEqualTo(first);
    assertThat(health.supervisors().find(HERE).orElseThrow().silentFor())
        .isLessThan(Duration.ofSeconds(20));
    assertThat(health.supervisors().watching(first)).isTrue();
    assertThat(health.supervisors().replace(first, second)).isTrue();
    assertThat(health.supervisors().replace(first, second)).isFalse();
    assertThat(health.supervisors().watching(first)).isFalse();
    start(1);
    health.supervisors().leave(first);
    assertThat(health.readings().of(HERE)).hasSize(1);
    health.supervisors().leave(second);
    assertThat(health.readings().of(HERE)).isEmpty();
    assertThat(health.supervisors().find(HERE)).isEmpty();
  }

  @Test
  void a_supervisor_clears_only_its_own_rows() {
    start(1);
    WorkerProcesses.Place there = new WorkerProcesses.Place("there", TAG, 1);
    health.processes().starting(there, 0, false);
    health.processes().clear(HERE);
    assertThat(health.readings().of(HERE)).isEmpty();
    assertThat(health.readings().all())
        .extracting(WorkerHealth::supervisor)
        .containsExactly("there");
  }

  @Test
  void a_command_reaches_every_supervisor_that_has_such_a_worker_or_the_one_that_is_named() {
    start(1);
    health.processes().starting(new WorkerProcesses.Place("there", TAG, 1), 0, false);
    assertThat(
            health.commands().add("worker:none:0", null, WorkerCommand.Action.STOP, "ada", "why"))
        .isEmpty();
    assertThat(health.commands().add(TAG, null, WorkerCommand.Action.PAUSE, "ada", "why"))
        .hasSize(2);
    assertThat(health.commands().add(TAG, "there", WorkerCommand.Action.RESUME, "ada", "why"))
        .hasSize(1);
    List<WorkerCommand> open = health.commands().open(HERE);
    assertThat(open).extracting(WorkerCommand::action).containsExactly(WorkerCommand.Action.PAUSE);
    assertThat(open.getFirst().requestedBy()).isEqualTo("ada");
    assertThat(health.commands().inForce(HERE)).isEmpty();
    health.commands().done(open.getFirst());
    assertThat(health.commands().open(HERE)).isEmpty();
    assertThat(health.commands().inForce(HERE))
        .extracting(WorkerCommand::action)
        .containsExactly(WorkerCommand.Action.PAUSE);
    assertThat(health.commands().open("there")).hasSize(2);
  }

  @Test
  void commands_in_force_stay_when_old_ones_are_deleted() {
    start(1);
    for (WorkerCommand.Action action : WorkerCommand.Action.values()) {
      health.commands().add(TAG, null, action, "ada", "why");
    }
    health.commands().open(HERE).forEach(health.commands()::done);
    db.sql("UPDATE holdfast.worker_command SET requested_at = requested_at - interval '31 days'");
    health.processes().clear(HERE);
    assertThat(health.commands().inForce(HERE))
        .extracting(WorkerCommand::action)
        .containsExactly(WorkerCommand.Action.STOP);
    assertThat(db.count("SELECT count(*) FROM holdfast.worker_command")).isEqualTo(1);
  }

  @Test
  void a_pause_stays_in_force_over_restarts_and_stops_until_a_resume() {
    start(1);
    given(WorkerCommand.Action.PAUSE, WorkerCommand.Action.RESTART);
    assertThat(inForce()).containsExactly(WorkerCommand.Action.PAUSE);
    given(WorkerCommand.Action.STOP);
    db.sql("UPDATE holdfast.worker_command SET requested_at = requested_at - interval '31 days'");
    health.processes().clear(HERE);
    start(2);
    assertThat(inForce()).containsExactly(WorkerCommand.Action.PAUSE, WorkerCommand.Action.STOP);
    given(WorkerCommand.Action.RESTART);
    assertThat(inForce()).containsExactly(WorkerCommand.Action.PAUSE);
    given(WorkerCommand.Action.RESUME);
    assertThat(inForce()).isEmpty();
  }

  private void given(WorkerCommand.Action... actions) {
    for (WorkerCommand.Action action : actions) {
      health.commands().add(TAG, null, action, "ada", "why");
    }
    health.commands().open(HERE).forEach(health.commands()::done);
  }

  private List<WorkerCommand.Action> inForce() {
    return health.commands().inForce(HERE).stream().map(WorkerCommand::action).toList();
  }

  @Test
  void all_queues_are_paused_at_once_and_resumed_at_once() {
    add(job());
    add(job().queue("other").concurrencyKey("key", 1));
    admin.pause("own");
    assertThat(admin.workersPausedAt()).isEmpty();
    admin.pauseAllWorkers();
    assertThat(admin.workersPausedAt()).isPresent();
    assertThat(claim(10)).isEmpty();
    assertThat(queue.claim(new ClaimRequest("other", 10, WORKER, LEASE)).jobs()).isEmpty();
    assertThat(admin.queues(Tenant.ANY)).extracting(QueueStatus::name).doesNotContain("*");
    assertThat(admin.resumeAllWorkers()).isTrue();
    assertThat(admin.resumeAllWorkers()).isFalse();
    assertThat(claim(10)).hasSize(1);
    assertThat(queue.claim(new ClaimRequest("other", 10, WORKER, LEASE)).jobs()).hasSize(1);
    assertThat(admin.queues(Tenant.ANY).stream().filter(q -> q.name().equals("own")).findFirst())
        .get()
        .satisfies(own -> assertThat(own.pausedAt()).isNotNull());
  }
}
