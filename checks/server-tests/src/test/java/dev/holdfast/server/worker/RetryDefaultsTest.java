package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The retry settings of a server apply to all jobs enqueued and settled through it. */
public class RetryDefaultsTest extends ServerTest {
  private static final Duration HOUR = Duration.ofHours(1);

  RetryDefaultsTest(TestDatabase db) {
    super(db);
  }

  @Override
  public RetryDefaults retries() {
    return new RetryDefaults(
        new Retries(4, new RetryPolicy(HOUR, 100, Duration.ofDays(1_000))),
        Map.of("mail", new Retries(6, null)),
        Map.of());
  }

  @Test
  void jobs_without_max_attempts_get_the_default_of_the_server() {
    assertThat(submitted(Map.of("kind", "echo"))).isEqualTo(4);
    assertThat(submitted(Map.of("kind", "mail"))).isEqualTo(6);
    assertThat(submitted(Map.of("kind", "mail", "maxAttempts", 2))).isEqualTo(2);
  }

  private int submitted(Map<String, Object> job) {
    JsonNode answer = client.post("/v1/jobs", job, null).created();
    return holdfast.find(JobId.parse(answer.get("id").asText())).orElseThrow().maxAttempts();
  }

  @Test
  void jobs_of_schedules_get_max_attempts_of_the_server() {
    client.put("/v1/schedules/tick", Map.of("cron", "@yearly", "kind", "mail"), null).ok();
    db.sql("UPDATE holdfast.schedule SET next_fire_at = now() - interval '1 s'");
    holdfast.store().maintenance().fire();
    // Unless the server's own upkeep has the schedule's row just now.
    await().atMost(SOON).until(() -> !holdfast.queries().list(JobFilter.ALL).isEmpty());
    assertThat(holdfast.queries().list(JobFilter.ALL).getFirst().maxAttempts()).isEqualTo(6);
  }

  @Test
  void the_backoff_of_a_task_depends_on_its_failures_and_not_on_its_releases() {
    JobId job = enqueued();
    for (int i = 0; i < 3; i++) {
      JsonNode task = leased();
      holdfast
          .jobs()
          .settle(new Settlement.Release(new Lease(job, task.get("attempt").asInt()), false));
    }
    JsonNode task = leased();
    Map<String, Object> failed = failedBody(4, Map.of("category", "USER_CODE", "message", "no"));
    assertThat(callback(task, "completed", failed).ok().get("finalState").asText())
        .isEqualTo("RETRYING");
    assertThat(wait(job)).isBetween(HOUR.dividedBy(3), HOUR);
  }

  @Test
  void a_worker_that_settles_leases_may_leave_the_backoff_to_the_server() {
    JobId job = enqueued();
    leased();
    Map<String, Object> ending =
        Map.of(
            "taskId",
            job.toString(),
            "attempt",
            1,
            "workerId",
            "w1",
            "outcome",
            "FAILED",
            "error",
            Map.of("category", "USER_CODE", "code", "BROKEN", "message", "no", "retryable", true));
    client.post("/v1/leases/settle", Map.of("settlements", List.of(ending)), null).ok();
    assertThat(wait(job)).isBetween(HOUR.dividedBy(3), HOUR);
  }

  private Duration wait(JobId job) {
    return Duration.between(holdfast.queries().now(), holdfast.find(job).orElseThrow().runAt());
  }
}
