package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

public class WornTokenTest extends ServerTest {
  WornTokenTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.tokens(new TokenLifetime(Duration.ofSeconds(10)));
  }

  @Test
  void a_task_that_runs_on_gets_a_fresh_token_with_a_heartbeat() {
    enqueued();
    JsonNode task = leased();
    Map<String, Object> beat = Map.of("attempt", 1, "workerId", "w1");
    List<JsonNode> answers = new ArrayList<>();
    await()
        .atMost(SOON)
        .until(
            () -> {
              answers.add(callback(task, "heartbeat", beat).ok());
              return answers.getLast().has("taskToken");
            });
    JsonNode fresh = answers.getLast();
    assertThat(Instant.parse(fresh.get("tokenExpiresAt").asText()))
        .isAfter(Instant.parse(task.get("tokenExpiresAt").asText()));
    client
        .post(
            "/v1/tasks/" + task.get("taskId").asText() + "/heartbeat",
            beat,
            fresh.get("taskToken").asText())
        .ok();
  }
}
