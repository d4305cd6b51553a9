package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerPolls.Poll;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Live events about worker processes. */
public class LiveWorkersTest extends ServerTest {
  private static final String TAG = "worker:tag:0";
  private static final String TOPIC = TAG + ":status";
  private static final WorkerProcesses.Place PLACE = new WorkerProcesses.Place("here", TAG, 1);
  private static final Json DETAILS = new Json("{}");

  private final WorkerRegistry health;

  LiveWorkersTest(TestDatabase db) {
    super(db);
    this.health = holdfast.store().workers();
  }

  @BeforeEach
  void supervise() {
    health.supervisors().appear(new Supervisors.Supervising("here", "host", 1, Instant.EPOCH));
  }

  private LiveStream listen() {
    return LiveStream.open(server.url(), "?topics=worker:*,system:health", null);
  }

  private void beat() {
    health.processes().beat(PLACE, HealthStatus.HEALTHY, 4_711, null, DETAILS);
  }

  private void start() {
    health.processes().starting(PLACE, 0, false);
    health.processes().spawned(PLACE, 4_711, Instant.now());
  }

  private static LiveStream.Event status(LiveStream live, String status) {
    return live.next(TOPIC, data -> data.get("status").asText().equals(status));
  }

  private static LiveStream.Event reason(LiveStream live, String code) {
    return live.next(Topics.HEALTH, data -> data.toString().contains("\"" + code + "\""));
  }

  @Test
  void status_changes_of_a_process_are_published() {
    start();
    try (LiveStream live = listen()) {
      JsonNode starting = status(live, "starting").data();
      assertThat(starting.get("component").asText()).isEqualTo(TAG);
      assertThat(starting.get("supervisor").asText()).isEqualTo("here");
      assertThat(starting.get("pid").asLong()).isEqualTo(4_711);
      beat();
      status(live, "healthy");
      JobId job = holdfast.enqueue(Job.of("echo").queue("tag")).id();
      holdfast
          .jobs()
          .claim(
              new ClaimRequest(
                  "tag",
                  1,
                  WorkerHealth.namePrefix(TAG, "host", 4_711) + "x",
                  Duration.ofMinutes(1)));
      JsonNode busy = live.next(TOPIC, data -> data.get("runningJobs").asInt() == 1).data();
      assertThat(busy.get("jobs").get(0).asText()).isEqualTo(job.toString());
      health.processes().paused("here", TAG, true);
      live.next(TOPIC, data -> data.get("pausedByOperator").asBoolean());
      health
          .processes()
          .ended(PLACE, HealthStatus.CRASHED, 137, "exit 137 (SIGKILL)", Duration.ofHours(1));
      JsonNode crashed = status(live, "crashed").data();
      assertThat(crashed.get("exit").get("code").asInt()).isEqualTo(137);
      assertThat(crashed.get("exit").get("name").asText()).isEqualTo("SIGKILL");
      assertThat(crashed.get("nextRestart").asText()).endsWith("Z");
      health.processes().starting(new WorkerProcesses.Place("here", TAG, 2), 1, false);
      JsonNode again = status(live, "starting").data();
      assertThat(again.get("restarts").asInt()).isEqualTo(1);
      health.processes().clear("here");
      status(live, "gone");
      // Leases of the dead process are not shown as another worker.
      assertThat(live.all())
          .filteredOn(event -> event.topic().equals(TOPIC))
          .allSatisfy(
              event -> assertThat(event.data().get("supervisor").asText()).isEqualTo("here"));
    }
  }

  @Test
  void a_worker_that_asks_a_server_for_jobs_is_idle_and_then_gone() {
    health.polls().write(List.of(new Poll("py-1", QUEUE, Tenant.ANY, Duration.ofHours(1))));
    String topic = "worker:py-1:status";
    try (LiveStream live = listen()) {
      JsonNode idle = live.next(topic, data -> data.get("status").asText().equals("idle")).data();
      assertThat(idle.get("workerId").asText()).isEqualTo("py-1");
      assertThat(idle.get("runningJobs").asInt()).isZero();
      enqueued();
      Lease lease =
          holdfast
              .jobs()
              .claim(new ClaimRequest(QUEUE, 1, "py-1", Duration.ofMinutes(1)))
              .jobs()
              .getFirst()
              .lease();
      live.next(topic, data -> data.get("runningJobs").asInt() == 1);
      holdfast.jobs().settle(new Settlement.Release(lease, false));
      live.next(topic, data -> data.get("status").asText().equals("idle"));
      // It need not be remembered for a minute: it is known not to ask any more.
      db.sql("UPDATE holdfast.worker_poll SET expires_at = now()");
      live.next(topic, data -> data.get("status").asText().equals("gone"));
    }
  }

  @Test
  void only_workers_with_new_output_are_published() {
    start();
    beat();
    WorkerLogs.Name worker = new WorkerLogs.Name("here", TAG);
    try (LiveStream live = listen()) {
      status(live, "healthy");
      health.logs().write(worker, List.of(new LogPiece(0, 1, "one\n")));
      JsonNode told = live.next(Topics.WORKER_LOGS, data -> true).data();
      assertThat(told.at("/workers/0/component").asText()).isEqualTo(TAG);
      assertThat(told.at("/workers/0/supervisor").asText()).isEqualTo("here");
      // Two more polls without new output.
      for (boolean paused : new boolean[] {true, false}) {
        health.processes().paused("here", TAG, paused);
        live.next(TOPIC, data -> data.get("pausedByOperator").asBoolean() == paused);
      }
      assertThat(live.all()).filteredOn(each -> each.topic().equals(Topics.WORKER_LOGS)).hasSize(1);
      // Output of a worker without a live supervisor is not published.
      health.logs().write(new WorkerLogs.Name("gone", TAG), List.of(new LogPiece(0, 1, "x\n")));
      health.logs().write(worker, List.of(new LogPiece(0, 1, "one\ntwo\n")));
      assertThat(live.next(Topics.WORKER_LOGS, data -> true).data().get("workers")).hasSize(1);
    }
  }

  @Test
  void a_heartbeat_alone_is_published_only_from_time_to_time() {
    start();
    beat();
    try (LiveStream live = listen()) {
      status(live, "healthy");
      for (int i = 0; i < 3; i++) {
        beat();
        // By then it has been polled.
        String name = "w" + i;
        holdfast.enqueue(Job.of("echo").queue(QUEUE));
        holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, name, Duration.ofMinutes(1)));
        live.next("worker:" + name + ":status");
      }
      assertThat(live.all().stream().filter(event -> event.topic().equals(TOPIC))).hasSize(1);
      // But it is published from time to time.
      db.sql("UPDATE holdfast.health SET last_seen = last_seen + interval '31 seconds'");
      status(live, "healthy");
    }
  }

  @Test
  void two_supervisors_may_have_the_same_component() {
    start();
    beat();
    health.supervisors().appear(new Supervisors.Supervising("there", "other", 1, Instant.EPOCH));
    health.processes().starting(new WorkerProcesses.Place("there", TAG, 1), 0, false);
    try (LiveStream live = listen()) {
      List<LiveStream.Event> snapshot = IntStream.range(0, 3).mapToObj(i -> live.next()).toList();
      assertThat(snapshot)
          .filteredOn(event -> event.topic().equals(TOPIC))
          .extracting(event -> event.data().get("supervisor").asText())
          .containsExactlyInAnyOrder("here", "there");
    }
  }

  @Test
  void problems_of_workers_are_reasons_of_the_health_event() {
    start();
    beat();
    try (LiveStream live = listen()) {
      live.next(Topics.HEALTH, data -> data.get("status").asText().equals("healthy"));
      health.processes().ended(PLACE, HealthStatus.FAILED, 1, "5 restarts within 5 minutes", null);
      reason(live, "worker_failed");
      db.sql("UPDATE holdfast.supervisor SET last_seen = last_seen - interval '1 hour'");
      reason(live, "supervisor_silent");
      health.processes().clear("here");
      live.next(Topics.HEALTH, data -> data.get("status").asText().equals("healthy"));
      enqueued();
      holdfast.admin().pauseAllWorkers();
      LiveStream.Event paused = reason(live, "all_paused");
      assertThat(paused.data().get("status").asText()).isEqualTo("degraded");
      holdfast.admin().resumeAllWorkers();
      live.next(Topics.HEALTH, data -> data.get("status").asText().equals("healthy"));
    }
  }

  @Test
  void a_key_of_one_tenant_gets_no_events_of_processes() {
    start();
    beat();
    String acme = key(Role.VIEWER, "acme");
    String all = key(Role.VIEWER, null);
    try (LiveStream own = LiveStream.open(server.url(), "", acme);
        LiveStream everything = LiveStream.open(server.url(), "", all)) {
      status(everything, "healthy");
      holdfast.enqueue(Job.of("echo").queue("tag").owner("acme", "w"));
      holdfast.jobs().claim(new ClaimRequest("tag", 1, "w1", Duration.ofMinutes(1)));
      own.next("worker:w1:status");
      assertThat(own.all()).extracting(LiveStream.Event::topic).doesNotContain(TOPIC);
    }
  }
}
