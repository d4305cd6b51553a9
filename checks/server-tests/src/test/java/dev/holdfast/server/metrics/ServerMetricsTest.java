package dev.holdfast.server.metrics;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.health.Supervisors;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.api.MetricsApi;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.live.LiveStream;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The metrics that a server exports. */
public class ServerMetricsTest extends ServerTest {
  ServerMetricsTest(TestDatabase db) {
    super(db);
  }

  private static String scraped(Client from) {
    Client.Reply reply = from.get("/metrics", null);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.response().headers().firstValue("Content-Type")).contains(MetricsApi.TYPE);
    return reply.response().body();
  }

  /** The value on the line that begins so. */
  private static double value(String scraped, String line) {
    return scraped
        .lines()
        .filter(l -> l.startsWith(line + " "))
        .mapToDouble(l -> Double.parseDouble(l.substring(line.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError(line + " is not in:\n" + scraped));
  }

  /** A server recovers no job during its first lease, so the lease is short here. */
  @Override
  public UnaryOperator<ServerOptions> options() {
    return options ->
        options.timings(
            new Timings(
                Duration.ofSeconds(1),
                Duration.ofSeconds(3),
                Duration.ZERO,
                Duration.ofSeconds(30)));
  }

  @Test
  void requests_are_timed_by_route_and_not_by_path() {
    client.get("/v1/nothing-like-this", null);
    for (int i = 0; i < 3; i++) {
      client.post("/v1/tasks/" + JobId.next() + "/started", Map.of(), "x");
    }
    String scraped = scraped(client);
    assertThat(
            value(
                scraped,
                "server_request_seconds_count{method=\"POST\","
                    + "route=\"/v1/tasks/{taskId}/started\",status=\"401\"}"))
        .isEqualTo(3);
    assertThat(
            value(
                scraped,
                "server_request_seconds_count{method=\"GET\",route=\"unmatched\",status=\"404\"}"))
        .isEqualTo(1);
    assertThat(scraped).contains("server_request_seconds_bucket").doesNotContain("nothing-like");
  }

  @Test
  void queue_depths_are_reported_for_a_bounded_number_of_queues() {
    enqueued();
    enqueued();
    leased();
    holdfast.enqueue(
        IntStream.range(0, 150).mapToObj(i -> Job.of("echo").queue("many-" + i)).toList());
    String scraped = scraped(client);
    assertThat(value(scraped, "queue_due_jobs{queue=\"work\"}")).isEqualTo(1);
    assertThat(value(scraped, "queue_running_jobs{queue=\"work\"}")).isEqualTo(1);
    assertThat(value(scraped, "queue_due_jobs{queue=\"_others\"}")).isEqualTo(51);
    assertThat(scraped.lines().filter(line -> line.startsWith("queue_due_jobs{"))).hasSize(101);
  }

  @Test
  void open_waits_are_reported_by_kind_and_sort() {
    holdfast.enqueue(Job.of("onboard").queue("people"));
    Lease lease =
        holdfast
            .jobs()
            .claim(new ClaimRequest("people", 1, "w", Duration.ofMinutes(5)))
            .jobs()
            .getFirst()
            .lease();
    holdfast.jobs().suspend(new Suspension(lease, 1, new Wait.ForSignal("go", "start", null)));
    db.sql(
        "UPDATE holdfast.job SET wait = wait"
            + " || jsonb_build_object('since', now() - interval '1 hour')");
    String scraped = scraped(client);
    assertThat(value(scraped, "wait_open_jobs{kind=\"onboard\",sort=\"signal\"}")).isEqualTo(1);
    assertThat(value(scraped, "wait_oldest_seconds{kind=\"onboard\",sort=\"signal\"}"))
        .isBetween(3600.0, 3600.0 + SOON.toSeconds());
  }

  private static WorkerProcesses.Place place(int incarnation) {
    return new WorkerProcesses.Place("here", "worker:tag:0", incarnation);
  }

  private void beat(int incarnation, String metrics) {
    holdfast.store().workers().processes().starting(place(incarnation), incarnation - 1, false);
    holdfast
        .store()
        .workers()
        .processes()
        .beat(
            place(incarnation),
            HealthStatus.HEALTHY,
            7,
            null,
            new Json("{\"metrics\": " + metrics + "}"));
  }

  private void awaitValue(String line, double expected) {
    // The metrics of the database are refreshed every five seconds.
    await()
        .atMost(SOON)
        .untilAsserted(() -> assertThat(value(scraped(client), line)).isEqualTo(expected));
  }

  @Test
  void processes_of_supervisors_are_counted_by_status_and_their_counters_are_summed() {
    String counts =
        "{\"worker.late_results_total\": 5, \"worker.inflight_jobs\": 2,"
            + " \"worker.retry_attempts_total{code=\\\"X\\\"}\": 3, \"not a name\": 1,"
            + " \"worker.text\": \"no number\"}";
    beat(1, counts);
    awaitValue("worker_processes{status=\"healthy\"}", 1);
    awaitValue("worker_processes{status=\"failed\"}", 0);
    awaitValue("worker_late_results_total", 5);
    awaitValue("worker_inflight_jobs", 2);
    awaitValue("worker_retry_attempts_total{code=\"X\"}", 3);
    assertThat(scraped(client)).doesNotContain("not a name", "worker_text");
    // The next process counts from 0, and the sum does not decrease.
    holdfast
        .store()
        .workers()
        .processes()
        .ended(place(1), HealthStatus.CRASHED, 1, "exit 1", Duration.ZERO);
    awaitValue("worker_processes{status=\"crashed\"}", 1);
    awaitValue("worker_inflight_jobs", 0);
    assertThat(value(scraped(client), "worker_late_results_total")).isEqualTo(5);
    beat(2, "{\"worker.late_results_total\": 1}");
    awaitValue("worker_restarts{component=\"worker:tag:0\"}", 1);
    awaitValue("worker_late_results_total", 6);
  }

  @Test
  void jobs_recovered_from_a_dead_process_stay_counted_after_a_change_of_supervisor() {
    WorkerRegistry health = holdfast.store().workers();
    Supervisors.Supervising first = new Supervisors.Supervising("here", "host", 1, Instant.EPOCH);
    Supervisors.Supervising second = new Supervisors.Supervising("here", "host", 2, Instant.EPOCH);
    health.supervisors().appear(first);
    crash(2, 2);
    crash(1, 0);
    awaitValue("worker_recovered_jobs_total{reason=\"crashed\"}", 2);
    awaitValue("worker_recovered_jobs_total{reason=\"ended\"}", 1);
    health.supervisors().replace(first, second);
    crash(3, 2);
    awaitValue("worker_recovered_jobs_total{reason=\"crashed\"}", 5);
  }

  /** Of a process with so many jobs. */
  private void crash(int jobs, int maxCrashes) {
    for (int i = 0; i < jobs; i++) {
      holdfast.enqueue(Job.of("echo").queue("dying").maxCrashes(maxCrashes));
    }
    assertThat(
            holdfast
                .jobs()
                .claim(new ClaimRequest("dying", jobs, "dead", Duration.ofMinutes(5)))
                .jobs())
        .hasSize(jobs);
    holdfast.store().workers().recovery().recover("here", "dead", "exit 137 (SIGKILL)");
    db.sql("UPDATE holdfast.job SET queue = 'done with'");
  }

  @Test
  void late_callbacks_and_recovered_jobs_are_counted() {
    enqueued();
    JsonNode task = leased();
    db.expireLeases();
    // The maintenance of the server requeues it.
    await()
        .atMost(SOON)
        .until(() -> db.count("SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'") == 1);
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).is(410, "task_expired");
    String late = "server_late_callbacks_total";
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              String scraped = scraped(client);
              assertThat(value(scraped, late + "{callback=\"heartbeat\"}")).isEqualTo(1);
              assertThat(value(scraped, late + "{callback=\"completed\"}")).isZero();
              assertThat(value(scraped, "worker_recovered_jobs_total{reason=\"stale\"}"))
                  .isEqualTo(1);
            });
  }

  @Test
  void waiting_requests_and_subscribers_are_counted() {
    assertThat(value(scraped(client), "server_live_subscribers")).isZero();
    try (LiveStream live = LiveStream.open(server.url(), "", null)) {
      live.next("system:health");
      assertThat(value(scraped(client), "server_live_subscribers")).isEqualTo(1);
    }
    Thread waiting =
        Thread.ofVirtual()
            .start(
                () ->
                    client.post(
                        "/v1/queues/empty/lease",
                        Map.of("workerId", "w1", "waitMs", 20_000),
                        null));
    await().atMost(SOON).until(() -> value(scraped(client), "server_waiting_workers") == 1);
    holdfast.enqueue(Job.of("echo").queue("empty"));
    await().atMost(SOON).until(() -> !waiting.isAlive());
    assertThat(value(scraped(client), "server_waiting_workers")).isZero();
  }

  @Test
  void metrics_of_the_database_and_of_a_worker_in_the_same_process_are_included() {
    ServerMetrics metrics = new ServerMetrics();
    JobStore.Options observed = new JobStore.Options(8, metrics);
    try (Holdfast own = Holdfast.on(db.dataSource(), new JacksonCodec(), observed);
        HoldfastServer both = HoldfastServer.start(own, ServerOptions.DEFAULT.port(0), metrics);
        Worker worker =
            own.worker("here")
                .handle(
                    "echo",
                    Json.class,
                    (payload, context) -> {
                      AtomicInteger tries = new AtomicInteger();
                      context.step(
                          "flaky",
                          () -> {
                            if (tries.incrementAndGet() == 1) {
                              throw new IllegalStateException("once");
                            }
                          });
                      return null;
                    })
                .start()) {
      metrics.addWorker(worker.metrics());
      JobId job = own.enqueue(Job.of("echo").queue("here")).id();
      await().atMost(SOON).until(() -> own.find(job).orElseThrow().state() == JobState.SUCCEEDED);
      String verbs = "database_verb_seconds_count{outcome=\"ok\",verb=";
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                String scraped = scraped(new Client(both.url()));
                assertThat(value(scraped, verbs + "\"enqueue\"}")).isPositive();
                assertThat(value(scraped, verbs + "\"claim\"}")).isPositive();
                assertThat(value(scraped, "worker_run_seconds_count")).isEqualTo(1);
                assertThat(value(scraped, "worker_inflight_jobs")).isZero();
                assertThat(value(scraped, "worker_pauses_total")).isZero();
                assertThat(value(scraped, "worker_heartbeats_total")).isNotNegative();
                assertThat(value(scraped, "worker_duplicate_skips_total")).isZero();
                assertThat(value(scraped, "worker_atomic_acquire_fail_total")).isNotNegative();
                assertThat(value(scraped, "worker_queue_wait_seconds_count")).isEqualTo(1);
                assertThat(value(scraped, "worker_claim_seconds_count")).isPositive();
                assertThat(
                        value(
                            scraped,
                            "task_self_heal_attempts_total{class=\"transient_runtime\","
                                + "outcome=\"recovered\",strategy=\"soft_reset\"}"))
                    .isEqualTo(1);
                assertThat(
                        value(
                            scraped,
                            "task_step_duration_seconds_count{class=\"transient_runtime\","
                                + "outcome=\"failed\",strategy=\"soft_reset\"}"))
                    .isEqualTo(1);
              });
    }
  }

  @Test
  void a_key_of_one_tenant_cannot_read_the_metrics_of_all_tenants() {
    key(Role.ADMIN, null);
    client.get("/metrics", key(Role.VIEWER, "ours")).is(403, "forbidden");
    client.get("/metrics", null).is(401, "key_missing");
    assertThat(client.get("/metrics", key(Role.VIEWER, null)).status()).isEqualTo(200);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void statsd_gets_the_metrics_under_the_same_names() throws IOException {
    try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        HoldfastServer sending =
            HoldfastServer.start(
                holdfast,
                ServerOptions.DEFAULT
                    .port(0)
                    .statsd(new ServerOptions.Statsd("127.0.0.1", socket.getLocalPort())))) {
      enqueued();
      // Processes send their own counters, which must not be sent twice.
      beat(1, "{\"worker.retry_attempts_total{code=\\\"X\\\"}\": 3}");
      Client asking = new Client(sending.url());
      socket.setSoTimeout(30_000);
      StringBuilder heard = new StringBuilder();
      List<String> expected =
          List.of(
              "server.request:",
              "route:unmatched",
              "status:404",
              "server.waiting_workers:0|g",
              "server.live_subscribers:0|g",
              "worker.processes:1|g|#statistic:value,status:healthy",
              "queue.due_jobs:1|g|#statistic:value,queue:work");
      while (!expected.stream().allMatch(heard.toString()::contains)) {
        // Again and again: what is counted before the sender is ready is not sent.
        asking.get("/v1/nothing", null);
        DatagramPacket packet = new DatagramPacket(new byte[65_536], 65_536);
        try {
          socket.receive(packet);
        } catch (IOException silence) {
          throw new AssertionError("heard only: " + heard, silence);
        }
        heard
            .append(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8))
            .append('\n');
        assertThat(heard.length()).as(heard::toString).isLessThan(500_000);
      }
      assertThat(heard.toString()).doesNotContain("code:X");
    }
  }
}
