package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Searches, counts, groups of failures and dependencies; each answer is held against openapi.yaml.
 */
class FindJobsTest extends ServerTest {
  FindJobsTest(TestDatabase db) {
    super(db);
  }

  private JsonNode get(String path) {
    return client.get(path, null).ok();
  }

  private static String search(String text) {
    return "?search=" + URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private JobId failed(String message) {
    JobId id = holdfast.enqueue(Job.of("mail").queue(QUEUE).maxAttempts(1)).id();
    JsonNode task = leased();
    callback(
            task,
            "completed",
            failedBody(
                1,
                Map.of(
                    "category",
                    "USER_CODE",
                    "code",
                    "SMTP",
                    "message",
                    message,
                    "retryable",
                    true)))
        .ok();
    return id;
  }

  @Test
  void jobs_are_found_counted_and_retried_by_a_search() {
    JobId failed = failed("550 mailbox unavailable");
    JobId other = holdfast.enqueue(Job.of("mail", Map.of("to", "ada")).queue("post")).id();
    assertThat(get("/v1/jobs" + search("state:failed code:SMTP MAILBOX")).at("/jobs/0/id").asText())
        .isEqualTo(failed.toString());
    assertThat(get("/v1/jobs" + search("payload.to:ada age:<1h")).at("/jobs/0/id").asText())
        .isEqualTo(other.toString());
    assertThat(get("/v1/jobs/count" + search("kind:mail")).get("count").asInt()).isEqualTo(2);
    assertThat(get("/v1/jobs" + search("kind:mail") + "&state=FAILED").get("jobs")).hasSize(1);
    assertThat(get("/v1/jobs/counts" + search("kind:mail")).get("rows")).hasSize(2);
    client.get("/v1/jobs" + search("state:gone"), null).is(422, "bad_search");
    JsonNode retried =
        client.post("/v1/jobs/retry", Map.of("filter", Map.of("search", "code:SMTP")), null).ok();
    assertThat(retried.get("retried").asInt()).isEqualTo(1);
    assertThat(state(failed)).isEqualTo("PENDING");
  }

  @Test
  void failures_are_grouped_and_show_their_cause() {
    failed("550 mailbox 17 unavailable");
    JobId latest = failed("550 mailbox 18 unavailable");
    JsonNode group = get("/v1/failures").at("/groups/0");
    assertThat(group.get("jobs").asInt()).isEqualTo(2);
    assertThat(group.get("code").asText()).isEqualTo("SMTP");
    assertThat(group.get("pattern").asText()).isEqualTo("# mailbox # unavailable");
    assertThat(group.get("latest").asText()).isEqualTo(latest.toString());
    assertThat(get("/v1/jobs" + search("failure:" + group.get("signature").asText())).get("jobs"))
        .hasSize(2);
    JsonNode failure = get("/v1/jobs/" + latest).get("failure");
    assertThat(failure.get("code").asText()).isEqualTo("RETRIES_EXHAUSTED");
    assertThat(failure.at("/cause/message").asText()).isEqualTo("550 mailbox 18 unavailable");
  }

  @Test
  void the_jobs_a_job_waits_for_are_shown_only_to_keys_that_may_see_them() {
    JobId own = holdfast.enqueue(Job.of("fetch").owner("acme", "w")).id();
    JobId others = holdfast.enqueue(Job.of("fetch")).id();
    JobId job = holdfast.enqueue(Job.of("load").owner("acme", "w").dependsOn(own, others)).id();
    JsonNode all = get("/v1/jobs/" + job + "?include=dependencies").get("dependencies");
    assertThat(all.get("dependsOn").findValuesAsText("id"))
        .containsExactlyInAnyOrder(own.toString(), others.toString());
    assertThat(get("/v1/jobs/" + own + "/dependencies").at("/dependents/0/state").asText())
        .isEqualTo("WAITING");
    String key = key(Role.VIEWER, "acme");
    assertThat(
            client
                .get("/v1/jobs/" + job + "/dependencies", key)
                .ok()
                .get("dependsOn")
                .findValuesAsText("id"))
        .isEqualTo(List.of(own.toString()));
  }

  @Test
  void problems_name_their_subject() {
    holdfast.admin().pause(QUEUE);
    enqueued();
    JsonNode problem = get("/v1/info").at("/problems/0");
    assertThat(problem.get("code").asText()).isEqualTo("queue_paused");
    assertThat(problem.at("/parameters/queue").asText()).isEqualTo(QUEUE);
    assertThat(problem.at("/parameters/jobs").asInt()).isEqualTo(1);
    holdfast.admin().pauseAllWorkers();
    JsonNode paused = get("/v1/info").at("/problems/0");
    assertThat(paused.get("message").asText()).doesNotContainPattern(":\\d\\d\\.\\d+Z");
    assertThat(paused.at("/parameters/since").asText()).endsWith("Z");
  }
}
