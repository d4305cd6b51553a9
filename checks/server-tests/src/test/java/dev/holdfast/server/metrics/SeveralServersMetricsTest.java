package dev.holdfast.server.metrics;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each server shows the sum over all of them, whichever of them answers a worker. */
class SeveralServersMetricsTest extends ServerTest {
  private static final String RUNS = "worker_run_seconds_count";
  private static final String RETRIES = "worker_retry_attempts_total{code=\"BUSY\"}";
  private static final String INFLIGHT = "worker_inflight_jobs";
  private static final String LATE = "worker_late_results_total";

  private HoldfastServer second;
  private Client other;

  SeveralServersMetricsTest(TestDatabase db) {
    super(db);
    this.second = started(holdfast, ServerOptions.DEFAULT.port(0));
    this.other = new Client(second.url());
  }

  @AfterEach
  void stopSecond() {
    second.close();
  }

  /** What is said of workers, without durations. */
  private static Map<String, Double> shown(Client at) {
    Map<String, Double> figures = new TreeMap<>();
    at.get("/metrics", null)
        .response()
        .body()
        .lines()
        .filter(line -> line.startsWith("worker_") && !line.contains("_seconds_sum"))
        .forEach(
            line -> {
              int space = line.lastIndexOf(' ');
              figures.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
            });
    return figures;
  }

  private void awaitAtBoth(Map<String, Double> expected) {
    // A server reports every five seconds, and reads as often at most.
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              assertThat(shown(client)).containsAllEntriesOf(expected);
              assertThat(shown(other)).containsAllEntriesOf(expected);
            });
    assertThat(shown(client)).isEqualTo(shown(other));
  }

  private JsonNode leased(Client at) {
    enqueued();
    return at.post("/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w1"), null)
        .ok()
        .get("tasks")
        .get(0);
  }

  private static void call(Client at, JsonNode task, String callback, Map<String, ?> body) {
    at.post(
            "/v1/tasks/" + task.get("taskId").asText() + "/" + callback,
            body,
            task.get("taskToken").asText())
        .ok();
  }

  private static void completed(Client at, JsonNode task) {
    call(at, task, "completed", Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED"));
  }

  @Test
  void a_task_may_be_claimed_at_one_server_and_reported_and_completed_at_another() {
    Map<String, ?> alive = Map.of("attempt", 1, "workerId", "w1");
    JsonNode first = leased(client);
    JsonNode another = leased(other);
    call(other, first, "started", alive);
    call(client, first, "heartbeat", alive);
    call(other, first, "heartbeat", alive);
    call(client, another, "heartbeat", alive);
    awaitAtBoth(
        Map.of(
            INFLIGHT, 2.0, "worker_heartbeats_total", 3.0, "worker_queue_wait_seconds_count", 2.0));
    Map<String, ?> busy =
        Map.of("category", "INFRASTRUCTURE", "code", "BUSY", "message", "try later");
    call(other, first, "completed", failedBody(1, busy));
    completed(client, another);
    awaitAtBoth(Map.of(INFLIGHT, 0.0, RUNS, 2.0, RETRIES, 1.0));
  }

  @Test
  void a_server_that_ends_takes_no_counts_with_it_and_the_next_one_goes_on() {
    completed(client, leased(client));
    completed(other, leased(other));
    second.close();
    await().atMost(SOON).untilAsserted(() -> assertThat(shown(client)).containsEntry(RUNS, 2.0));
    second = started(holdfast, ServerOptions.DEFAULT.port(0));
    other = new Client(second.url());
    awaitAtBoth(Map.of(RUNS, 2.0));
    completed(other, leased(other));
    awaitAtBoth(Map.of(RUNS, 3.0));
    assertThat(db.count("SELECT count(*) FROM holdfast.server_metrics")).isEqualTo(3);
  }

  @Test
  void the_gauges_of_a_server_disappear_with_it_and_its_counters_stay() {
    db.sql(
        "INSERT INTO holdfast.server_metrics VALUES ('gone', now(),"
            + " '{\"worker.inflight_jobs\": 4, \"worker.late_results_total\": 2}')");
    awaitAtBoth(Map.of(INFLIGHT, 4.0, LATE, 2.0));
    db.sql("UPDATE holdfast.server_metrics SET last_seen = now() - interval '31 seconds'");
    awaitAtBoth(Map.of(INFLIGHT, 0.0, LATE, 2.0));
    // A row of last week is deleted by the next report, and a sum never decreases.
    db.sql("UPDATE holdfast.server_metrics SET last_seen = now() - interval '8 days'");
    completed(client, leased(client));
    await()
        .atMost(SOON)
        .until(
            () ->
                db.count("SELECT count(*) FROM holdfast.server_metrics WHERE server = 'gone'")
                    == 0);
    awaitAtBoth(Map.of(RUNS, 1.0, LATE, 2.0));
  }
}
