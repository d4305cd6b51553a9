package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** {@code workers}. */
class WorkersCommandTest extends OperatorCommandFixture {
  private static final String TAG = "worker:tag:0";
  private static final WorkerProcesses.Place PLACE = new WorkerProcesses.Place("here", TAG, 1);

  private WorkerRegistry health() {
    return holdfast.store().workers();
  }

  private void startTag() {
    health()
        .supervisors()
        .appear(new Supervisors.Supervising("here", "here.example", 1, Instant.EPOCH));
    health().processes().starting(PLACE, 2, false);
    health().processes().spawned(PLACE, 4_711, Instant.now());
    health().processes().beat(PLACE, HealthStatus.HEALTHY, 4_711, null, new Json("{}"));
  }

  @Test
  void workers_are_listed_and_shown_with_the_health() throws IOException {
    assertThat(run("workers", "list")).isZero();
    assertThat(said()).contains("no supervisor is running");
    startTag();
    assertThat(run("workers", "list")).isZero();
    assertThat(said()).contains(TAG, "healthy", "4711", "here");
    assertThat(run("workers", "list", "--json")).isZero();
    assertThat(json().get(0).get("restarts").asInt()).isEqualTo(2);
    assertThat(run("health")).isZero();
    assertThat(said()).contains(TAG, "healthy", "all is well");
    health().processes().ended(PLACE, HealthStatus.FAILED, 9, "5 restarts within 5 minutes", null);
    assertThat(run("health")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said())
        .contains("failed", "9 (handlers)", "5 restarts within 5 minutes")
        .contains("holdfast logs " + TAG);
    assertThat(run("health", "--json")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(json().get("workers").get(0).get("exit").get("name").asText()).isEqualTo("handlers");
    assertThat(json().get("problems").get(0).get("code").asText()).isEqualTo("worker_failed");
    assertThat(json().get("workersPausedAt").isNull()).isTrue();
  }

  /** What a supervisor would do. */
  private Thread supervisor(Consumer<WorkerCommand> does) {
    return Thread.ofVirtual()
        .start(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                health()
                    .commands()
                    .open("here")
                    .forEach(
                        order -> {
                          does.accept(order);
                          health().commands().done(order);
                        });
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
              }
            });
  }

  private void obey(WorkerCommand order) {
    switch (order.action()) {
      case PAUSE -> health().processes().paused("here", TAG, true);
      case RESUME, RESTART -> {
        health().processes().starting(PLACE, 0, false);
        health().processes().spawned(PLACE, 4_712, Instant.now());
      }
      case STOP -> health().processes().ended(PLACE, HealthStatus.STOPPING, 0, "stopped", null);
    }
  }

  @Test
  void a_command_to_a_worker_is_waited_for_until_it_is_done() throws Exception {
    startTag();
    Thread supervisor = supervisor(this::obey);
    try {
      assertThat(run("workers", "pause", TAG, "--wait", "60s", "--reason", "a test")).isZero();
      assertThat(said()).contains(TAG + " of supervisor 'here' is healthy, paused");
      assertThat(run("workers", "resume", TAG, "--wait", "60s")).isZero();
      assertThat(said()).contains("is starting");
      startTag();
      assertThat(run("workers", "restart", TAG, "--wait", "60s", "--json")).isZero();
      assertThat(json().get("done").asBoolean()).isTrue();
      assertThat(json().get("commands").get(0).get("requestedBy").asText()).isEqualTo(requester());
      assertThat(run("workers", "stop", TAG, "--supervisor", "here", "--wait", "60s")).isZero();
      assertThat(said()).contains("is stopped");
    } finally {
      supervisor.interrupt();
      supervisor.join();
    }
    assertThat(run("workers", "pause", TAG)).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("resume starts it");
  }

  @Test
  void a_command_that_is_not_executed_yet_is_stored() throws IOException {
    startTag();
    assertThat(run("workers", "stop", TAG, "--wait", "0s")).isZero();
    assertThat(said()).contains("command to stop " + TAG).contains("not done yet");
    assertThat(health().commands().open("here")).hasSize(1);
  }

  @Test
  void all_workers_are_paused_and_resumed() throws IOException {
    startTag();
    health().processes().ended(PLACE, HealthStatus.FAILED, 1, "too often", null);
    assertThat(run("workers", "pause", "--all")).isZero();
    assertThat(said()).contains("all workers are paused");
    assertThat(holdfast.admin().workersPausedAt()).isPresent();
    run("workers", "list");
    assertThat(said()).contains("all workers are paused since");
    assertThat(run("workers", "resume", TAG, "--wait", "0s")).isZero();
    assertThat(said()).contains("all workers are still paused");
    assertThat(run("workers", "resume", "--all", "--wait", "0s")).isZero();
    assertThat(said()).contains("all workers are resumed").contains("command to resume " + TAG);
    assertThat(holdfast.admin().workersPausedAt()).isEmpty();
    assertThat(run("workers", "resume", "--all", "--wait", "0s")).isZero();
    assertThat(said()).contains("were not all paused");
  }

  @Test
  void a_rejected_command_to_a_worker_lists_the_accepted_ones() throws IOException {
    startTag();
    assertThat(run("workers", "stop", "worker:tug:0")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("is it " + TAG + "?");
    assertThat(run("workers", "pause")).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("--all");
    assertThat(run("workers", "pause", TAG, "--all")).isEqualTo(ExitCode.USAGE);
    assertThat(run("workers", "pause", "--all", "--supervisor", "here")).isEqualTo(ExitCode.USAGE);
    database.sql("UPDATE holdfast.supervisor SET last_seen = last_seen - interval '31 seconds'");
    assertThat(run("workers", "stop", TAG)).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("holdfast supervise");
    assertThat(complained().lines()).hasSize(1);
  }
}
