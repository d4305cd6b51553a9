package dev.holdfast.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What workers over HTTP do is in the metrics like what workers in Java do. */
class RemoteMetricsTest extends ServerTest {
  private static final String RETRIES = "worker_retry_attempts_total{code=\"BUSY\"}";

  RemoteMetricsTest(TestDatabase db) {
    super(db);
  }

  private static Map<String, Object> busy(boolean retryable) {
    return failedBody(
        1,
        Map.of(
            "category",
            "INFRASTRUCTURE",
            "code",
            "BUSY",
            "message",
            "try later",
            "retryable",
            retryable));
  }

  @Test
  void held_tasks_heartbeats_retries_and_times_of_the_task_protocol_are_counted() {
    enqueued();
    JsonNode task = leased();
    awaitMetric("worker_inflight_jobs", 1);
    assertThat(metric("worker_queue_wait_seconds_count")).isEqualTo(1);
    callback(task, "started", Map.of("attempt", 1, "workerId", "w1")).ok();
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    awaitMetric("worker_heartbeats_total", 2);
    callback(task, "completed", busy(true)).ok();
    callback(task, "completed", busy(true)).ok();
    awaitMetric("worker_inflight_jobs", 0);
    awaitMetric(RETRIES, 1);
    assertThat(metric("worker_run_seconds_count")).isEqualTo(1);
  }

  @Test
  void a_failure_that_is_not_retried_is_no_retry() {
    enqueued();
    callback(leased(), "completed", busy(false)).ok();
    awaitMetric("worker_run_seconds_count", 1);
    assertThat(metric(RETRIES)).isZero();
  }

  @Test
  void leases_of_many_tasks_under_one_key_are_counted_too() {
    enqueued();
    enqueued();
    JsonNode first = leased();
    JsonNode second = leased();
    awaitMetric("worker_inflight_jobs", 2);
    client
        .post(
            "/v1/leases/heartbeat",
            Map.of("leaseMs", 30_000, "leases", List.of(held(first), held(second))),
            null)
        .ok();
    awaitMetric("worker_heartbeats_total", 2);
    client
        .post(
            "/v1/leases/settle",
            Map.of(
                "settlements",
                List.of(
                    more(first, "SUCCEEDED", Map.of()),
                    more(
                        second,
                        "FAILED",
                        Map.of(
                            "error",
                            Map.of(
                                "category",
                                "INFRASTRUCTURE",
                                "code",
                                "BUSY",
                                "message",
                                "try later",
                                "retryable",
                                true))))),
            null)
        .ok();
    awaitMetric("worker_inflight_jobs", 0);
    awaitMetric(RETRIES, 1);
    assertThat(metric("worker_run_seconds_count")).isEqualTo(2);
  }

  private static Map<String, Object> held(JsonNode task) {
    return Map.of("taskId", task.get("taskId").asText(), "attempt", 1, "workerId", "w1");
  }

  private static Map<String, Object> more(JsonNode task, String outcome, Map<String, ?> rest) {
    Map<String, Object> all = new HashMap<>(held(task));
    all.put("outcome", outcome);
    all.putAll(rest);
    return all;
  }
}
