package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerLogs;
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

/** Worker processes over HTTP: their health and commands. */
public class WorkersApiTest extends ServerTest {
  private static final String TAG = "worker:tag:0";
  private static final WorkerProcesses.Place PLACE = new WorkerProcesses.Place("here", TAG, 1);
  private static final Duration LEASE = Duration.ofMinutes(1);

  private WorkerRegistry health;

  WorkersApiTest(TestDatabase db) {
    super(db);
    this.health = holdfast.store().workers();
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
  void a_process_is_shown_with_all_its_details() {
    JobId job = holdfast.enqueue(Job.of("echo").queue("tag")).id();
    String name = WorkerHealth.namePrefix(TAG, "here.example", 4_711) + "a1b2";
    holdfast.jobs().claim(new ClaimRequest("tag", 1, name, LEASE));
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
  void a_silent_process_is_shown_as_crashed_with_the_reason() {
    silence();
    JsonNode worker = workers().getFirst();
    assertThat(worker.get("status").asText()).isEqualTo("crashed");
    assertThat(worker.get("reason").asText()).contains("no report since");
  }

  @Test
  void a_worker_without_a_supervisor_is_shown_through_its_leases() {
    for (int i = 0; i < 3; i++) {
      holdfast.enqueue(Job.of("echo").queue("tag"));
    }
    // The same place, but another process; and the same process number in another place.
    holdfast
        .jobs()
        .claim(
            new ClaimRequest("tag", 1, WorkerHealth.namePrefix(TAG, "host", 4_712) + "x", LEASE));
    holdfast.jobs().claim(new ClaimRequest("tag", 1, "worker:tag:1@host.4711.x", LEASE));
    holdfast.jobs().claim(new ClaimRequest("tag", 1, "w1", LEASE));
    assertThat(workers())
        .extracting(worker -> worker.get("component").asText() + worker.get("runningJobs").asInt())
        .containsExactlyInAnyOrder(TAG + "0", TAG + "1", "worker:tag:11", "worker:w11");
    assertThat(workers())
        .filteredOn(worker -> worker.get("supervisor").isNull())
        .hasSize(3)
        .allSatisfy(worker -> assertThat(worker.get("status").asText()).isEqualTo("healthy"));
  }

  @Test
  void two_machines_may_have_processes_with_the_same_pid() {
    supervise("there");
    start(new WorkerProcesses.Place("there", TAG, 1), 4_711);
    holdfast.enqueue(Job.of("echo").queue("tag"));
    String name = WorkerHealth.namePrefix(TAG, "there.example", 4_711) + "x";
    holdfast.jobs().claim(new ClaimRequest("tag", 1, name, LEASE));
    assertThat(workers())
        .extracting(worker -> worker.get("supervisor").asText() + worker.get("runningJobs").asInt())
        .containsExactlyInAnyOrder("here0", "there1");
  }

  @Test
  void a_key_of_one_tenant_cannot_see_processes() {
    holdfast.enqueue(Job.of("echo").queue("tag").owner("acme", "w"));
    String name = WorkerHealth.namePrefix(TAG, "host", 4_711) + "x";
    holdfast.jobs().claim(new ClaimRequest("tag", 1, name, LEASE));
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
  void a_command_is_stored_with_its_requester_and_reason() {
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
  void a_command_is_for_the_component_in_all_supervisors_or_in_the_named_one() {
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
  void an_unknown_component_is_answered_with_the_nearest_name() {
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
  void a_command_without_a_live_supervisor_is_rejected() {
    db.sql("UPDATE holdfast.supervisor SET last_seen = last_seen - interval '31 seconds'");
    for (WorkerCommand.Action action : WorkerCommand.Action.values()) {
      Client.Reply reply = client.post("/v1/workers/" + TAG + "/" + action.text(), null);
      assertThat(reply.is(409, "supervisor_silent").body().get("message").asText())
          .contains("holdfast supervise");
    }
    assertThat(health.commands().open("here")).isEmpty();
    // Of two supervisors, one is alive and gets the command.
    supervise("there");
    start(new WorkerProcesses.Place("there", TAG, 1), 1);
    JsonNode commands = client.post("/v1/workers/" + TAG + "/restart", null).ok().get("commands");
    assertThat(commands).hasSize(1);
    assertThat(commands.get(0).get("supervisor").asText()).isEqualTo("there");
  }

  @Test
  void a_pause_is_rejected_where_no_process_runs() {
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
  void all_workers_are_paused_and_resumed_and_failed_ones_are_restarted() {
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

  @Test
  void the_exits_of_processes_are_stored_with_their_reasons() {
    health
        .processes()
        .ended(PLACE, HealthStatus.CRASHED, 137, "exit 137 (SIGKILL)", Duration.ofSeconds(1));
    // As the supervisor does when it stops restarting a worker; it is the same exit.
    health.processes().ended(PLACE, HealthStatus.FAILED, 137, "exit 137; 5 restarts", null);
    start(new WorkerProcesses.Place("here", TAG, 2), 4_712);
    health
        .processes()
        .ended(
            new WorkerProcesses.Place("here", TAG, 2),
            HealthStatus.STOPPING,
            0,
            "restarted by ada: a new release",
            Duration.ZERO);
    List<JsonNode> exits = exits("");
    assertThat(exits).hasSize(2);
    assertThat(exits.get(0).get("status").asText()).isEqualTo("stopping");
    assertThat(exits.get(0).get("pid").asInt()).isEqualTo(4_712);
    assertThat(exits.get(0).get("reason").asText()).contains("ada");
    assertThat(exits.get(1).at("/exit/name").asText()).isEqualTo("SIGKILL");
    assertThat(exits.get(1).get("startedAt").asText()).isEqualTo("1970-01-01T00:00:00Z");
    assertThat(exits("?supervisor=elsewhere")).isEmpty();
    db.sql("UPDATE holdfast.worker_exit SET ended_at = ended_at - interval '31 days'");
    health.processes().clear("another");
    assertThat(exits("")).isEmpty();
    client.get("/v1/workers/" + TAG + "/exits", key(Role.OPERATOR, "acme")).is(403, "forbidden");
  }

  private List<JsonNode> exits(String query) {
    return client
        .get("/v1/workers/" + TAG + "/exits" + query, null)
        .ok()
        .get("exits")
        .valueStream()
        .toList();
  }

  @Test
  void the_output_of_a_worker_is_read_from_a_cursor_and_its_tail_is_kept() {
    WorkerLogs.Name worker = new WorkerLogs.Name("here", TAG);
    String path = "/v1/workers/" + TAG + "/log?supervisor=here";
    assertThat(client.get(path, null).ok().get("text").asText()).isEmpty();
    health.logs().write(worker, List.of(new LogPiece(0, 1, "one\n")));
    JsonNode first = client.get(path, null).ok();
    assertThat(first.get("text").asText()).isEqualTo("one\n");
    assertThat(first.get("skipped").asBoolean()).isFalse();
    health.logs().write(worker, List.of(new LogPiece(0, 1, "one\ntwo\n")));
    health.logs().write(worker, List.of(new LogPiece(0, 2, "three\n")));
    String on = path + "&cursor=" + first.get("next").asText();
    assertThat(client.get(on, null).ok().get("text").asText()).isEqualTo("two\nthree\n");
    health.logs().write(worker, List.of(new LogPiece(0, 18, "last\n")));
    JsonNode late = client.get(on, null).ok();
    assertThat(late.get("text").asText()).isEqualTo("last\n");
    assertThat(late.get("skipped").asBoolean()).isTrue();
    assertThat(health.logs().last("here")).containsEntry(TAG, 18);
    client.get("/v1/workers/" + TAG + "/log", null).is(422, "invalid_value");
    client.get(path, key(Role.OPERATOR, "acme")).is(403, "forbidden");
  }
}
