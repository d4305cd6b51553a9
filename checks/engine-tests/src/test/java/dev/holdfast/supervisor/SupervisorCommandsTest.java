package dev.holdfast.supervisor;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.OnlyWithAll;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Pause, stop and restart of workers, also of those that ignore commands. */
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(DatabaseExtension.class)
@OnlyWithAll
class SupervisorCommandsTest extends SupervisorFixture {
  @Test
  void a_pause_is_reported_and_survives_a_crash_until_a_resume() throws Exception {
    supervise(NAME, "good");
    WorkerHealth first = untilHealthy(1);
    order(WorkerCommand.Action.PAUSE);
    until(WorkerHealth::pausedByOperator);
    until(() -> log().contains("heard pause"));
    assertThat(health.commands().open(NAME)).isEmpty();
    signal("KILL", pid(first));
    assertThat(untilHealthy(2).pausedByOperator()).isTrue();
    assertThat(log()).contains("plays good, paused");
    order(WorkerCommand.Action.RESUME);
    until(row -> !row.pausedByOperator());
    until(() -> log().contains("heard resume"));
    assertThat(row().restarts()).isEqualTo(1);
  }

  @Test
  void a_stopped_worker_is_not_restarted_until_a_resume() {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    order(WorkerCommand.Action.STOP);
    WorkerHealth stopped = until(WorkerHealth::isStopped);
    assertThat(Living.is(pid)).isFalse();
    assertThat(stopped.reason()).isEqualTo("stopped by ada: to see");
    assertThat(stopped.exitCode()).isZero();
    order(WorkerCommand.Action.RESUME);
    assertThat(untilHealthy(2).restarts()).isZero();
  }

  @Test
  void a_worker_that_ignores_a_stop_is_shown_as_stopping_with_the_reason() throws Exception {
    supervise(NAME, "deaf");
    long pid = pid(untilHealthy(1));
    order(WorkerCommand.Action.STOP);
    WorkerHealth stopping = until(row -> row.status() == HealthStatus.STOPPING);
    assertThat(stopping.pid()).isEqualTo(pid);
    assertThat(stopping.isStopped()).isFalse();
    assertThat(stopping.reason()).isEqualTo("stopped by ada: to see");
    signal("KILL", pid);
    until(WorkerHealth::isStopped);
  }

  @Test
  void a_restarted_worker_is_never_shown_as_stopped() {
    supervise(NAME, "good");
    untilHealthy(1);
    // All that its row says on the way.
    db.sql(
        """
        CREATE TABLE public.said AS TABLE holdfast.health WITH NO DATA;
        CREATE FUNCTION public.note_health() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO public.said SELECT new.*;
          RETURN NULL;
        END $$;
        CREATE TRIGGER note_health AFTER UPDATE ON holdfast.health
          FOR EACH ROW EXECUTE FUNCTION public.note_health();
        """);
    order(WorkerCommand.Action.RESTART);
    untilHealthy(2);
    String ended = "SELECT count(*) FROM public.said WHERE status = 'stopping' AND pid IS NULL";
    assertThat(db.count(ended)).isEqualTo(1);
    assertThat(db.count(ended + " AND next_restart IS NULL")).isZero();
  }

  @Test
  void a_restart_by_command_replaces_the_process_and_is_not_counted() {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    order(WorkerCommand.Action.RESTART);
    assertThat(untilHealthy(2).restarts()).isZero();
    assertThat(Living.is(pid)).isFalse();
  }

  @Test
  void a_worker_that_ignores_the_stop_command_is_terminated_with_SIGTERM_and_not_killed()
      throws Exception {
    stop = Duration.ofSeconds(1);
    terminate = LONG;
    Supervisor supervisor = supervise(NAME, "deaf");
    untilHealthy(1);
    supervisor.close();
    assertThat(log())
        .containsSubsequence("heard stop", "ends by a signal", "--- ended: 143 (SIGTERM)");
    assertThat(health.exits().of(TAG, NAME))
        .singleElement()
        .satisfies(exit -> assertThat(exit.exit().code()).isEqualTo(143));
  }

  @Test
  void a_worker_that_ignores_commands_is_terminated_or_killed() throws Exception {
    stop = Duration.ofMillis(100);
    Supervisor supervisor = supervise(NAME, "deaf");
    long pid = pid(untilHealthy(1));
    signal("STOP", pid);
    supervisor.close();
    assertThat(Living.is(pid)).isFalse();
    assertThat(log()).contains("--- ended: 137 (SIGKILL)");
  }

  @Test
  void a_worker_stopped_by_something_else_than_its_supervisor_is_not_restarted() {
    supervise(NAME, "leaves");
    WorkerHealth gone = until(WorkerHealth::isStopped);
    assertThat(gone.exitCode()).isZero();
    assertThat(gone.restarts()).isZero();
    assertThat(gone.reason()).contains("not from its supervisor");
  }

  @Test
  void a_pause_survives_a_restart_of_the_process_and_of_the_supervisor() throws Exception {
    Supervisor supervisor = supervise(NAME, "good");
    untilHealthy(1);
    order(WorkerCommand.Action.PAUSE);
    until(WorkerHealth::pausedByOperator);
    order(WorkerCommand.Action.RESTART);
    assertThat(untilHealthy(2).pausedByOperator()).isTrue();
    supervisor.close();
    supervise(NAME, "good");
    assertThat(untilHealthy(1).pausedByOperator()).isTrue();
  }

  @Test
  void pause_and_stop_commands_survive_a_restart_of_the_supervisor() throws Exception {
    Supervisor supervisor = supervise(NAME, "good", "good");
    untilHealthy(1);
    order(WorkerCommand.Action.PAUSE);
    assertThat(
            health.commands().add("worker:tag:1", null, WorkerCommand.Action.STOP, "ada", "to see"))
        .hasSize(1);
    until(() -> health.commands().open(NAME).isEmpty());
    supervisor.close();
    Supervisor next = supervise(NAME, "good", "good");
    assertThat(untilHealthy(1).pausedByOperator()).isTrue();
    assertThat(next.awaitHealthy(SOON)).isTrue();
    assertThat(next.standing())
        .isEqualTo(new Supervisor.Standing(List.of("worker:tag:1"), List.of()));
    WorkerHealth other =
        health.readings().of(NAME).stream()
            .filter(row -> row.component().equals("worker:tag:1"))
            .findFirst()
            .orElseThrow();
    assertThat(other.isStopped()).isTrue();
  }
}
