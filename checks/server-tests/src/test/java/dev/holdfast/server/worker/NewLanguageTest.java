package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client.Reply;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The requests that docs/guides/new-language.md shows, in their order. */
public class NewLanguageTest extends ServerTest {
  NewLanguageTest(TestDatabase db) {
    super(db);
  }

  private JsonNode send(String name, String task, String key) throws IOException {
    return send(name, task, key, json -> json).ok();
  }

  private Reply send(String name, String task, String key, UnaryOperator<String> change)
      throws IOException {
    String request =
        new String(resource(name), StandardCharsets.UTF_8)
            .replace("{queue}", QUEUE)
            .replace("{taskId}", task);
    String path = request.lines().findFirst().orElseThrow().split(" ", 2)[1];
    String body = request.substring(request.indexOf("\n{"));
    byte[] sent = change.apply(body).getBytes(StandardCharsets.UTF_8);
    return client.post(path, Wire.tree(sent), key);
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = NewLanguageTest.class.getResourceAsStream("/new-language/" + name)) {
      return Objects.requireNonNull(in).readAllBytes();
    }
  }

  private static String withoutTimes(JsonNode steps) {
    return steps.toString().replaceAll("\"(\\w+At)\":\"[^\"]+\"", "\"$1\"");
  }

  @Test
  void a_job_runs_from_its_claim_to_its_settlement() throws IOException {
    String id = enqueued().toString();
    String key = key(Role.WORKER, null);
    assertThat(send("wait.http", id, key).get("queues").get(0).asText()).isEqualTo(QUEUE);
    JsonNode task = send("lease.http", id, key).get("tasks").get(0);
    assertThat(task.get("taskId").asText()).isEqualTo(id);
    assertThat(task.get("heartbeatTimeoutMs").asInt()).isEqualTo(30_000);
    assertThat(send("heartbeat.http", id, key).at("/leases/0/ack").asText()).isEqualTo("ACCEPTED");
    assertThat(send("report.http", id, key).get("acks"))
        .hasSize(3)
        .allMatch(ack -> ack.asText().equals("ACCEPTED"));
    assertThat(send("step.http", id, key).at("/acks/0").asText()).isEqualTo("ACCEPTED");
    JsonNode steps =
        client.get("/v1/leases/steps?taskId=" + id + "&attempt=1&workerId=w-4711-x7", key).ok();
    assertThat(withoutTimes(steps)).isEqualTo(withoutTimes(Wire.tree(resource("steps.json"))));
    JsonNode leases = client.get("/v1/leases?workerId=w-4711-x7", key).ok();
    assertThat(Wire.text(leases))
        .isEqualTo(
            "{\"leases\":[{\"taskId\":\"%s\",\"attempt\":1,\"workerId\":\"w-4711-x7\"}]}"
                .formatted(id));
    for (int time = 1; time <= 2; time++) {
      assertThat(send("settle.http", id, key).at("/acks/0").asText()).isEqualTo("ACCEPTED");
    }
    JobStatus job = holdfast.find(JobId.parse(id)).orElseThrow();
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.progress()).isEqualTo(40);
    assertThat(send("heartbeat.http", id, key).at("/leases/0/ack").asText())
        .isEqualTo("LEASE_LOST");
  }

  @Test
  void an_attempt_whose_time_is_up_is_tried_again() throws IOException {
    String id = enqueued().toString();
    String key = key(Role.WORKER, null);
    send("lease.http", id, key);
    assertThat(send("timeout.http", id, key).at("/acks/0").asText()).isEqualTo("ACCEPTED");
    JobStatus job = holdfast.find(JobId.parse(id)).orElseThrow();
    assertThat(job.state()).isEqualTo(JobState.RETRYING);
    assertThat(job.failures()).isEqualTo(1);
  }

  @Test
  void a_field_that_the_server_does_not_know_is_refused_with_those_that_it_knows()
      throws IOException {
    String id = enqueued().toString();
    String key = key(Role.WORKER, null);
    for (String name : List.of("wait.http", "lease.http", "heartbeat.http", "settle.http")) {
      Reply refused = send(name, id, key, json -> json.replaceFirst("\\{", "{\"newer\": 1, "));
      assertThat(refused.status()).as(name).isEqualTo(422);
      assertThat(refused.body().get("message").asText())
          .startsWith("field 'newer' is unknown: known are ");
    }
  }
}
