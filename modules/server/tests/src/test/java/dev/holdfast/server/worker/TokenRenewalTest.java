package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.auth0.jwt.JWT;
import com.auth0.jwt.algorithms.Algorithm;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

public class TokenRenewalTest extends ServerTest {
  TokenRenewalTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.tokens(new TokenLifetime(Duration.ofSeconds(10)));
  }

  /** A token of the same task that ended this long ago. */
  private String ended(JsonNode task, Duration ago) {
    TokenKey key = holdfast.queue().access().tokenKeys().getFirst();
    Instant end = Instant.now().minus(ago);
    return JWT.create()
        .withKeyId(key.kid())
        .withIssuer("holdfast")
        .withAudience("holdfast:task")
        .withSubject(task.get("taskId").asText())
        .withClaim("tenant", "default")
        .withClaim("workspace", "default")
        .withClaim("run", task.get("runId").asText())
        .withClaim("attempt", 1)
        .withIssuedAt(end.minusSeconds(10))
        .withNotBefore(end.minusSeconds(10))
        .withExpiresAt(end)
        .sign(Algorithm.HMAC256(Base64.getDecoder().decode(key.secret())));
  }

  @Test
  void a_token_that_could_not_be_renewed_in_an_outage_is_renewed_after_it() {
    enqueued();
    JsonNode task = leased();
    String path = "/v1/tasks/" + task.get("taskId").asText() + "/";
    Map<String, Object> beat = Map.of("attempt", 1, "workerId", "w1");
    String old = ended(task, Duration.ofMinutes(30));
    // The attempt sent a heartbeat after the token had expired, so it has a newer token.
    client.post(path + "heartbeat", beat, old).is(401, "token_expired");
    db.sql("UPDATE holdfast.job SET heartbeat_at = heartbeat_at - interval '31 minutes'");
    client.post(path + "heartbeat", beat, ended(task, Duration.ofDays(2))).is(401, "token_expired");
    JsonNode renewed = client.post(path + "heartbeat", beat, old).ok();
    client.post(path + "heartbeat", beat, old).is(401, "token_expired");
    Map<String, Object> done = Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED");
    client.post(path + "completed", done, renewed.get("taskToken").asText()).ok();
  }

  @Test
  void a_long_running_task_gets_a_new_token_with_a_heartbeat() {
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
