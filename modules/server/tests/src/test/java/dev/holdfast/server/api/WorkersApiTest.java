package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Worker processes over HTTP: how they are doing, and what is asked of them. */
public class WorkersApiTest extends ServerTest {
  private static final String TAG = "worker:tag:0";
  private static final WorkerProcesses.Place PLACE = new WorkerProcesses.Place("here", TAG, 1);
  private static final Duration LEASE = Duration.ofMinutes(1);

  private WorkerRegistry health;

  WorkersApiTest(TestDatabase db) {
    super(db);
    this.health = holdfast.queue().workers();
  }

  @BeforeEach
  void healthy() {
    supervise("here");
    start(PLACE, 4_711);
  }

  private void supervise(String name) {
    health
        .supervisors()
        .appear(new Supervisors.Supervising(name, name + ".example", 1, Instant.EPOCH));
  }

  private void start(WorkerProcesses.Place place, long pid) {
    health.processes().starting(place, 0, false);
    health.processes().spawned(place, pid, Instant.EPOCH);
    health.processes().beat(place, HealthStatus.HEALTHY, pid, null, new Json("{\"places\": 4}"));
  }

  private void silence() {
    db.sql("UPDATE holdfast.health SET last_seen = last_seen - interval '31 seconds'");
  }

  private List<JsonNode> workers() {
    return client.get("/v1/workers", null).ok().get("workers").valueStream().toList();
  }

  @Test
  void a_process_is_shown_with_all_that_is_known_of_it() {
    JobId job = holdfast.enqueue(Job.of("echo").queue("tag")).id();
    String name = WorkerHealth.namePrefix(TAG, "here.example", 4_711) + "a1b2";
    holdfast.jobs().claim("tag", 1, name, LEASE);
    health.processes().beat(PLACE, HealthStatus.HEALTHY, 4_711, job, new Json("{\"places\": 4}"));
    assertThat(workers()).hasSize(1);
    JsonNode worker = workers().getFirst();
    assertThat(worker.get("component").asText()).isEqualTo(TAG);
    assertThat(worker.get("supervisor").asText()).isEqualTo("here");
    assertThat(worker.get("workerId").asText()).isEqualTo(name);
    assertThat(worker.get("status").asText()).isEqualTo("healthy");
    assertThat(worker.get("pid").asLong()).isEqualTo(4_711);
    assertThat(worker.get("currentJob").asText()).isEqualTo(job.toString());
    assertThat(worker.get("runningJobs").asInt()).isEqualTo(1);
    assertThat(worker.get("queues").toString()).isEqualTo("[\"tag\"]");
    assertThat(worker.get("details").get("places").asInt()).isEqualTo(4);
    assertThat(worker.get("exit").isNull()).isTrue();
    health
        .processes()
        .ended(PLACE, HealthStatus.CRASHED, 137, "exit 137 (SIGKILL)", Duration.ofHours(1));
    JsonNode crashed = workers().getFirst();
    assertThat(crashed.get("status").asText()).isEqualTo("crashed");
    assertThat(crashed.get("pid").isNull()).isTrue();
    assertThat(crashed.get("exit").get("name").asText()).isEqualTo("SIGKILL");
    assertThat(crashed.get("exit").get("hint").asText()).contains("dmesg");
    assertThat(crashed.get("nextRestart").asText()).endsWith("Z");
    assertThat(crashed.get("reason").asText()).contains("SIGKILL");
  }

  @Test
  void one_that_is_silent_is_shown_as_crashed_with_the_reason() {
    silence();
    JsonNode worker = workers().getFirst();
    assertThat(worker.get("status").asText()).isEqualTo("crashed");
    assertThat(worker.get("reason").asText()).contains("no report since");
  }

  @Test
  void a_worker_without_a_supervisor_is_shown_by_what_it_holds() {
    for (int i = 0; i < 3; i++) {
      holdfast.enqueue(Job.of("echo").queue("tag"));
    }
    // The same place, but another process; and the same process number in another place.
    holdfast.jobs().claim("tag", 1, WorkerHealth.namePrefix(TAG, "host", 4_712) + "x", LEASE);
    holdfast.jobs().claim("tag", 1, "worker:tag:1@host.4711.x", LEASE);
    holdfast.jobs().claim("tag", 1, "w1", LEASE);
    assertThat(workers())
        .extracting(worker -> worker.get("component").asText() + worker.get("runningJobs").asInt())
        .containsExactlyInAnyOrder(TAG + "0", TAG + "1", "worker:tag:11", "worker:w11");
    assertThat(workers())
        .filteredOn(worker -> worker.get("supervisor").isNull())
        .hasSize(3)
        .allSatisfy(worker -> assertThat(worker.get("status").asText()).isEqualTo("healthy"));
  }

  @Test
  void two_machines_may_have_processes_of_the_same_number() {
    supervise("there");
    start(new WorkerProcesses.Place("there", TAG, 1), 4_711);
    holdfast.enqueue(Job.of("echo").queue("tag"));
    String name = WorkerHealth.namePrefix(TAG, "there.example", 4_711) + "x";
    holdfast.jobs().claim("tag", 1, name, LEASE);
    assertThat(workers())
        .extracting(worker -> worker.get("supervisor").asText() + worker.get("runningJobs").asInt())
        .containsExactlyInAnyOrder("here0", "there1");
  }

  @Test
  void processes_are_not_for_the_key_of_one_tenant() {
    holdfast.enqueue(Job.of("echo").queue("tag").owner("acme", "w"));
    String name = WorkerHealth.namePrefix(TAG, "host", 4_711) + "x";
    holdfast.jobs().claim("tag", 1, name, LEASE);
    String acme = key(Role.OPERATOR, "acme");
    JsonNode seen = client.get("/v1/workers", acme).ok().get("workers");
    assertThat(seen).hasSize(1);
    assertThat(seen.get(0).get("workerId").asText()).isEqualTo(name);
    assertThat(seen.get(0).get("supervisor").isNull()).isTrue();
    assertThat(seen.get(0).get("details").isNull()).isTrue();
    assertThat(client.get("/v1/workers", key(Role.VIEWER, "other")).ok().get("workers")).isEmpty();
    client.post("/v1/workers/" + TAG + "/stop", acme).is(403, "forbidden");
    client.post("/v1/workers/pause", acme).is(403, "forbidden");
    String all = key(Role.VIEWER, null);
    assertThat(client.get("/v1/workers", all).ok().get("workers").get(0).get("pid").asLong())
        .isEqualTo(4_711);
  }

  @Test
  void an_order_is_kept_with_who_asked_and_why() {
    String key = key(Role.OPERATOR, null);
    for (WorkerCommand.Action action : WorkerCommand.Action.values()) {
      JsonNode commands =
          client
              .post("/v1/workers/" + TAG + "/" + action.text(), Map.of("reason", "a test"), key)
              .ok()
              .get("commands");
      assertThat(commands).hasSize(1);
      assertThat(commands.get(0).get("action").asText()).isEqualTo(action.text());
      assertThat(commands.get(0).get("supervisor").asText()).isEqualTo("here");
    }
    assertThat(health.commands().open("here"))
        .extracting(WorkerCommand::action)
        .containsExactly(WorkerCommand.Action.values());
    assertThat(health.commands().open("here"))
        .allSatisfy(
            order -> {
              assertThat(order.requestedBy()).isEqualTo("test");
              assertThat(order.reason()).isEqualTo("a test");
            });
  }

  @Test
  void an_order_is_for_all_that_have_such_a_component_or_for_the_one_that_is_named() {
    supervise("there");
    start(new WorkerProcesses.Place("there", TAG, 1), 1);
    assertThat(client.post("/v1/workers/" + TAG + "/pause", null).ok().get("commands")).hasSize(2);
    JsonNode one =
        client.post("/v1/workers/" + TAG + "/pause", Map.of("supervisor", "there"), null).ok();
    assertThat(one.get("commands")).hasSize(1);
    assertThat(one.get("commands").get(0).get("supervisor").asText()).isEqualTo("there");
    Client.Reply unknown =
        client.post("/v1/workers/" + TAG + "/pause", Map.of("supervisor", "nowhere"), null);
    assertThat(unknown.is(404, "not_found").body().get("message").asText()).contains("here, there");
  }

  @Test
  void a_component_that_is_unknown_is_answered_with_the_nearest() {
    Client.Reply reply = client.post("/v1/workers/worker:tug:0/stop", null);
    assertThat(reply.is(404, "not_found").body().get("message").asText()).contains("is it " + TAG);
    Client.Reply far = client.post("/v1/workers/nothing%20like%20it/stop", null);
    assertThat(far.is(404, "not_found").body().get("message").asText()).doesNotContain("is it");
    enqueued();
    leased();
    Client.Reply alone = client.post("/v1/workers/worker:w1/stop", null);
    assertThat(alone.is(404, "not_found").body().get("message").asText())
        .contains("has no supervisor");
  }

  @Test
  void what_nobody_would_do_is_refused() {
    db.sql("UPDATE holdfast.supervisor SET last_seen = last_seen - interval '31 seconds'");
    for (WorkerCommand.Action action : WorkerCommand.Action.values()) {
      Client.Reply reply = client.post("/v1/workers/" + TAG + "/" + action.text(), null);
      assertThat(reply.is(409, "supervisor_silent").body().get("message").asText())
          .contains("holdfast supervise");
    }
    assertThat(health.commands().open("here")).isEmpty();
    // Of two, one is there to do it.
    supervise("there");
    start(new WorkerProcesses.Place("there", TAG, 1), 1);
    JsonNode commands = client.post("/v1/workers/" + TAG + "/restart", null).ok().get("commands");
    assertThat(commands).hasSize(1);
    assertThat(commands.get(0).get("supervisor").asText()).isEqualTo("there");
  }

  @Test
  void a_pause_is_refused_where_nothing_runs() {
    health.processes().ended(PLACE, HealthStatus.STOPPING, 0, "stopped by ada", null);
    client.post("/v1/workers/" + TAG + "/pause", null).is(409, "worker_stopped");
    client.post("/v1/workers/" + TAG + "/resume", null).ok();
    health.processes().ended(PLACE, HealthStatus.FAILED, 1, "too many restarts", null);
    client.post("/v1/workers/" + TAG + "/pause", null).is(409, "worker_failed");
    client.post("/v1/workers/" + TAG + "/restart", null).ok();
    client.post("/v1/workers/" + TAG + "/stop", null).ok();
    client.post("/v1/workers/" + TAG + "/resume", null).ok();
  }

  @Test
  void all_are_paused_and_resumed_and_those_that_failed_are_started_again() {
    health.processes().starting(new WorkerProcesses.Place("here", "worker:tag:1", 1), 0, false);
    health
        .processes()
        .ended(
            new WorkerProcesses.Place("here", "worker:tag:1", 1),
            HealthStatus.FAILED,
            1,
            "too many",
            null);
    JsonNode paused = client.post("/v1/workers/pause", Map.of("reason", "backup"), null).ok();
    assertThat(paused.get("workersPausedAt").asText()).endsWith("Z");
    assertThat(paused.get("commands")).isEmpty();
    assertThat(client.get("/v1/info", null).ok().get("workersPausedAt"))
        .isEqualTo(paused.get("workersPausedAt"));
    assertThat(client.get("/v1/workers", null).ok().get("workersPausedAt"))
        .isEqualTo(paused.get("workersPausedAt"));
    enqueued();
    assertThat(
            client.post("/v1/queues/work/lease", Map.of("workerId", "w1"), null).ok().get("tasks"))
        .isEmpty();
    JsonNode resumed = client.post("/v1/workers/resume", null).ok();
    assertThat(resumed.get("workersWerePaused").asBoolean()).isTrue();
    assertThat(resumed.get("workersPausedAt").isNull()).isTrue();
    assertThat(resumed.get("commands")).hasSize(1);
    assertThat(resumed.get("commands").get(0).get("component").asText()).isEqualTo("worker:tag:1");
    leased();
    assertThat(client.post("/v1/workers/resume", null).ok().get("workersWerePaused").asBoolean())
        .isFalse();
  }
}
