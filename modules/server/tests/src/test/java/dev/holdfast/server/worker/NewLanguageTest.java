package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The requests that docs/guides/new-language.md shows, in their order. */
public class NewLanguageTest extends ServerTest {
  NewLanguageTest(TestDatabase db) {
    super(db);
  }

  private JsonNode send(String name, String task, String key) throws IOException {
    try (InputStream in = NewLanguageTest.class.getResourceAsStream("/new-language/" + name)) {
      String request =
          new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
              .replace("{queue}", QUEUE)
              .replace("{taskId}", task);
      String path = request.lines().findFirst().orElseThrow().split(" ", 2)[1];
      String body = request.substring(request.indexOf("\n{"));
      return client.post(path, Wire.tree(body.getBytes(StandardCharsets.UTF_8)), key).ok();
    }
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
    assertThat(
            client
                .get("/v1/leases/steps?taskId=" + id + "&attempt=1&workerId=w-4711-x7", key)
                .ok()
                .at("/steps/0/checkpoint/rows")
                .asInt())
        .isEqualTo(7);
    for (int time = 1; time <= 2; time++) {
      assertThat(send("settle.http", id, key).at("/acks/0").asText()).isEqualTo("ACCEPTED");
    }
    JobStatus job = holdfast.find(JobId.parse(id)).orElseThrow();
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.progress()).isEqualTo(40);
    assertThat(send("heartbeat.http", id, key).at("/leases/0/ack").asText())
        .isEqualTo("LEASE_LOST");
  }
}
