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

  @Test
  void pushed_tasks_are_counted_from_the_claim_to_the_end() throws InterruptedException {
    dispatch(2);
    enqueued();
    enqueued();
    JsonNode first = pushed();
    JsonNode second = pushed();
    awaitMetric(INFLIGHT, 2);
    assertThat(metric("worker_queue_wait_seconds_count")).isEqualTo(2);
    begun(first);
    callback(first, "heartbeat", Map.of("attempt", 1, "workerId", "w9")).ok();
    callback(first, "completed", succeeded(first)).ok();
    Map<String, ?> busy =
        Map.of("category", "INFRASTRUCTURE", "code", "BUSY", "message", "try later");
    callback(second, "completed", failedBody(1, busy)).ok();
    awaitMetric(RUNS, 2);
    awaitMetric(INFLIGHT, 0);
    assertThat(metric("worker_heartbeats_total")).isEqualTo(1);
    assertThat(metric("worker_retry_attempts_total{code=\"BUSY\"}")).isEqualTo(1);
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
    callback(next, "completed", succeeded(next)).ok();
    awaitMetric(RUNS, 1);
    awaitMetric(INFLIGHT, 0);
  }

  @Test
  void an_error_after_the_start_ends_a_run_that_is_retried() {
    before =
        task -> {
          begun(task);
          status = task.get("attempt").asInt() == 1 ? 500 : 202;
          return true;
        };
    dispatch(1);
    enqueued();
    awaitMetric("worker_retry_attempts_total{code=\"DISPATCH_FAILED\"}", 1);
    assertThat(metric(RUNS)).isEqualTo(1);
  }
}
