package dev.holdfast.supervisor;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.process.Companion;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.OnlyWithAll;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Supervisors with the same name, and recovery after a dead one. */
@OnlyWithAll
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(DatabaseExtension.class)
class CompetingSupervisorsTest extends SupervisorFixture {
  @Test
  void a_second_supervisor_of_a_name_is_rejected_and_other_names_do_not_interfere()
      throws Exception {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    assertThatThrownBy(() -> supervise(NAME, "good"))
        .isInstanceOf(SupervisorRunsException.class)
        .hasMessageContaining("HOLDFAST_SUPERVISOR_NAME")
        .hasMessageContaining("pid " + ProcessHandle.current().pid());
    Supervisor other = supervise("there", "good");
    assertThat(other.awaitHealthy(SOON)).isTrue();
    assertThat(health.readings().all())
        .extracting(WorkerHealth::component)
        .containsExactly(TAG, TAG);
    other.close();
    assertThat(pid(row())).isEqualTo(pid);
    assertThat(row().status()).isEqualTo(HealthStatus.HEALTHY);
  }

  @Test
  void jobs_claimed_in_the_name_of_a_dead_process_are_requeued() throws Exception {
    supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    signal("KILL", pid);
    long next = pid(untilHealthy(2));
    JobId late = add();
    JobId rightful = add();
    // As the server carries out what the killed process had sent.
    store
        .jobs()
        .claim(
            new ClaimRequest(
                "tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), pid) + "x", LONG));
    store
        .jobs()
        .claim(
            new ClaimRequest(
                "tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), next) + "x", LONG));
    until(() -> store.queries().find(late).orElseThrow().crashes() == 1);
    assertThat(state(late)).isEqualTo(JobState.PENDING);
    assertThat(state(rightful)).isEqualTo(JobState.RUNNING);
  }

  @Test
  void workers_of_a_dead_supervisor_are_ended_and_their_jobs_requeued() throws Exception {
    JobId job = add();
    Process left = new ProcessBuilder("/bin/sleep", "600").redirectErrorStream(true).start();
    try {
      Supervisors.Supervising dead =
          new Supervisors.Supervising(NAME, Machine.name(), Long.MAX_VALUE, Instant.EPOCH);
      assertThat(health.supervisors().appear(dead)).isTrue();
      WorkerProcesses.Place place = new WorkerProcesses.Place(NAME, TAG, 7);
      health.processes().starting(place, 2, false);
      health.processes().spawned(place, left.pid(), left.info().startInstant().orElseThrow());
      // A pid that is in use again by another process.
      WorkerProcesses.Place reused = new WorkerProcesses.Place(NAME, "worker:tag:1", 1);
      health.processes().starting(reused, 0, false);
      health.processes().spawned(reused, ProcessHandle.current().pid(), Instant.EPOCH);
      store
          .jobs()
          .claim(
              new ClaimRequest(
                  "tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), left.pid()) + "x", LONG));
      stop = Duration.ofMillis(50);
      supervise(NAME, "good");
      assertThat(left.waitFor(1, TimeUnit.MINUTES)).isTrue();
      WorkerHealth row = untilHealthy(8);
      assertThat(row.restarts()).isZero();
      assertThat(store.queries().find(job).orElseThrow().crashes()).isEqualTo(1);
      assertThat(Companion.isAlive(left.pid(), Instant.EPOCH)).isFalse();
    } finally {
      left.destroyForcibly();
    }
  }

  /** Otherwise another worker would begin while the process still works on the job. */
  @Test
  void jobs_of_a_dead_supervisor_wait_until_its_worker_process_is_gone() throws Exception {
    JobId job = add();
    Process left = new ProcessBuilder("/bin/sleep", "600").redirectErrorStream(true).start();
    try {
      Supervisors.Supervising dead =
          new Supervisors.Supervising(NAME, Machine.name(), Long.MAX_VALUE, Instant.EPOCH);
      assertThat(health.supervisors().appear(dead)).isTrue();
      WorkerProcesses.Place place = new WorkerProcesses.Place(NAME, TAG, 7);
      health.processes().starting(place, 2, false);
      health.processes().spawned(place, left.pid(), left.info().startInstant().orElseThrow());
      store
          .jobs()
          .claim(
              new ClaimRequest(
                  "tag", 1, WorkerHealth.namePrefix(TAG, Machine.name(), left.pid()) + "x", LONG));
      stop = Duration.ofMillis(50);
      CompletableFuture<Supervisor> started =
          CompletableFuture.supplyAsync(() -> supervise(NAME, "good"));
      boolean[] alive = new boolean[1];
      until(
          () -> {
            boolean requeued = store.queries().find(job).orElseThrow().crashes() == 1;
            alive[0] |= requeued && left.isAlive();
            return requeued;
          });
      assertThat(alive[0]).as("the process was alive when its job was requeued").isFalse();
      assertThat(started.get(SOON.toSeconds(), TimeUnit.SECONDS).awaitHealthy(SOON)).isTrue();
    } finally {
      left.destroyForcibly();
    }
  }

  @Test
  void a_supervisor_that_lost_its_name_stops_its_workers() throws Exception {
    Supervisor supervisor = supervise(NAME, "good");
    long pid = pid(untilHealthy(1));
    Supervisors.Supervising self = health.supervisors().find(NAME).orElseThrow().supervising();
    assertThat(
            health
                .supervisors()
                .replace(self, new Supervisors.Supervising(NAME, "elsewhere", 1, Instant.EPOCH)))
        .isTrue();
    until(supervisor::isReplaced);
    assertThat(Living.is(pid)).isFalse();
    assertThat(health.supervisors().find(NAME)).isPresent();
  }
}
