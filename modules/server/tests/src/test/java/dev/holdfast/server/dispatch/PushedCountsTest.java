package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tasks that are pushed to a worker count like those that workers pull. */
class PushedCountsTest extends PushFixture {
  private static final String INFLIGHT = "worker_inflight_jobs";
  private static final String RUNS = "worker_run_seconds_count";

  PushedCountsTest(TestDatabase db) {
    super(db);
  }

  private double value(String line) {
    return client
        .get("/metrics", null)
        .response()
        .body()
        .lines()
        .filter(each -> each.startsWith(line + " "))
        .mapToDouble(each -> Double.parseDouble(each.substring(line.length() + 1)))
        .sum();
  }

  private void awaitValue(String line, double expected) {
    await().atMost(SOON).untilAsserted(() -> assertThat(value(line)).isEqualTo(expected));
  }

  @Test
  void pushed_tasks_are_counted_from_the_claim_to_the_end() throws InterruptedException {
    dispatch(2);
    enqueued();
    enqueued();
    JsonNode first = pushed();
    JsonNode second = pushed();
    awaitValue(INFLIGHT, 2);
    assertThat(value("worker_queue_wait_seconds_count")).isEqualTo(2);
    callback(first, "started", Map.of("attempt", 1, "workerId", "w9")).ok();
    callback(first, "heartbeat", Map.of("attempt", 1, "workerId", "w9")).ok();
    callback(first, "completed", Map.of("attempt", 1, "workerId", "w9", "outcome", "SUCCEEDED"))
        .ok();
    Map<String, ?> busy =
        Map.of("category", "INFRASTRUCTURE", "code", "BUSY", "message", "try later");
    callback(second, "completed", failedBody(1, busy)).ok();
    awaitValue(RUNS, 2);
    awaitValue(INFLIGHT, 0);
    assertThat(value("worker_heartbeats_total")).isEqualTo(1);
    assertThat(value("worker_retry_attempts_total{code=\"BUSY\"}")).isEqualTo(1);
  }

  @Test
  void a_task_that_its_worker_refused_has_not_run() throws InterruptedException {
    before = task -> false;
    dispatch(1);
    var refused = enqueued();
    await().atMost(SOON).until(() -> state(refused).equals("FAILED"));
    before = task -> true;
    enqueued();
    JsonNode next = pushed();
    callback(next, "completed", Map.of("attempt", 1, "workerId", "w9", "outcome", "SUCCEEDED"))
        .ok();
    awaitValue(RUNS, 1);
    awaitValue(INFLIGHT, 0);
  }

  @Test
  void an_error_after_the_start_ends_a_run_that_is_retried() {
    before =
        task -> {
          int attempt = task.get("attempt").asInt();
          callback(task, "started", Map.of("attempt", attempt, "workerId", "w9")).ok();
          status = attempt == 1 ? 500 : 202;
          return true;
        };
    dispatch(1);
    enqueued();
    awaitValue("worker_retry_attempts_total{code=\"DISPATCH_FAILED\"}", 1);
    assertThat(value(RUNS)).isEqualTo(1);
  }
}
