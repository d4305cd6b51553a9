package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A pushed task shows the worker that has started it, also if that dies. */
class PushedWorkerTest extends PushFixture {
  private static final String QUEUE_NAME = "push:" + QUEUE;

  PushedWorkerTest(TestDatabase db) {
    super(db);
  }

  /** A server recovers no job during its first lease, so the lease is short here. */
  @Override
  public UnaryOperator<ServerOptions> options() {
    return options ->
        super.options()
            .apply(options)
            .timings(
                new Timings(
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(5),
                    Duration.ZERO,
                    Duration.ofSeconds(30)));
  }

  private static Map<String, ?> by(String worker, int attempt) {
    return Map.of("attempt", attempt, "workerId", worker);
  }

  private JsonNode attempt(JobId job, int number) {
    return client.get("/v1/jobs/" + job + "/attempts", null).ok().get("attempts").get(number - 1);
  }

  private String worker(JobId job, int attempt) {
    return attempt(job, attempt).get("workerId").asText();
  }

  /** Who began it, by the timeline. */
  private String began(JobId job, int attempt) {
    for (JsonNode event : client.get("/v1/jobs/" + job + "/timeline", null).ok().get("events")) {
      if (event.get("type").asText().equals("processing")
          && event.get("attempt").asInt() == attempt) {
        return event.get("data").get("worker").asText();
      }
    }
    throw new AssertionError("attempt " + attempt + " has not begun");
  }

  private String holder(JobId job) {
    return client.get("/v1/jobs/" + job, null).ok().get("workerId").asText();
  }

  @Test
  void a_crashed_attempt_names_the_worker_that_had_started_it() throws InterruptedException {
    dispatch(1);
    JobId job = enqueued();
    JsonNode first = pushed();
    assertThat(holder(job)).isEqualTo(QUEUE_NAME);
    callback(first, "started", by("w9", 1)).ok();
    callback(first, "started", by("other", 1)).ok();
    assertThat(holder(job)).isEqualTo("w9");
    assertThat(worker(job, 1)).isEqualTo("w9");
    assertThat(began(job, 1)).isEqualTo("w9");
    JsonNode second = pushed();
    assertThat(second.get("attempt").asInt()).isEqualTo(2);
    assertThat(attempt(job, 1).get("outcome").asText()).isEqualTo("CRASHED");
    assertThat(attempt(job, 1).get("failure").get("message").asText()).contains("worker w9 was");
    assertThat(worker(job, 1)).isEqualTo("w9");
    assertThat(began(job, 1)).isEqualTo("w9");
    // The next attempt has another worker, and who comes late is not it.
    callback(first, "started", by("w9", 1)).is(409, "attempt_mismatch");
    assertThat(holder(job)).isEqualTo(QUEUE_NAME);
    assertThat(worker(job, 2)).isEqualTo(QUEUE_NAME);
    callback(second, "started", by("w7", 2)).ok();
    callback(
            second, "completed", failedBody(2, Map.of("category", "DATA_QUALITY", "message", "no")))
        .ok();
    assertThat(worker(job, 2)).isEqualTo("w1");
    assertThat(began(job, 2)).isEqualTo("w7");
    JsonNode groups = client.get("/v1/failures", null).ok().get("groups");
    assertThat(groups.toString()).contains("w7").doesNotContain(QUEUE_NAME);
  }

  @Test
  void a_task_that_is_pulled_keeps_the_name_under_which_it_was_leased() {
    JobId job = enqueued();
    JsonNode task = leased();
    callback(task, "started", by("w9", 1)).ok();
    assertThat(holder(job)).isEqualTo("w1");
    await().atMost(SOON).until(() -> state(job).equals("PENDING"));
    assertThat(worker(job, 1)).isEqualTo("w1");
  }
}
