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
    TokenKey key = holdfast.store().admin().tokenKeys().getFirst();
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
  void a_token_that_expired_stays_good_while_its_attempt_holds_the_task() {
    enqueued();
    JsonNode task = leased();
    String path = "/v1/tasks/" + task.get("taskId").asText() + "/";
    Map<String, Object> beat = Map.of("attempt", 1, "workerId", "w1");
    String old = ended(task, Duration.ofDays(2));
    client.post(path + "started", beat, old).ok();
    client.post(path + "heartbeat", beat, old).ok();
    client.post(path + "heartbeat", beat, old).ok();
    Map<String, Object> done = Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED");
    client.post(path + "completed", done, old).ok();
    // The response may have been lost.
    client.post(path + "completed", done, old).ok();
    db.sql("UPDATE holdfast.job SET finished_at = now() - interval '61 minutes'");
    client.post(path + "completed", done, old).is(401, "token_expired");
  }

  @Test
  void an_expired_token_of_an_attempt_that_ended_changes_nothing_and_is_refused_after_an_hour() {
    enqueued();
    JsonNode task = leased();
    db.expireLeases();
    holdfast.store().maintenance().reap(Duration.ZERO);
    assertThat(leased().get("attempt").asInt()).isEqualTo(2);
    String path = "/v1/tasks/" + task.get("taskId").asText() + "/";
    Map<String, Object> beat = Map.of("attempt", 1, "workerId", "w1");
    String old = ended(task, Duration.ofMinutes(30));
    client.post(path + "heartbeat", beat, old).is(409, "attempt_mismatch");
    db.sql("UPDATE holdfast.attempt SET ended_at = now() - interval '61 minutes'");
    client.post(path + "heartbeat", beat, old).is(401, "token_expired");
  }

  @Test
  void a_task_that_starts_late_gets_a_new_token_at_its_start() {
    enqueued();
    JsonNode task = leased();
    String path = "/v1/tasks/" + task.get("taskId").asText() + "/";
    Map<String, Object> beat = Map.of("attempt", 1, "workerId", "w1");
    JsonNode soon = client.post(path + "started", beat, task.get("taskToken").asText()).ok();
    assertThat(soon.has("taskToken")).as("a token before half of its life is over").isFalse();
    JsonNode started = client.post(path + "started", beat, ended(task, Duration.ofHours(1))).ok();
    assertThat(Instant.parse(started.get("tokenExpiresAt").asText())).isAfter(Instant.now());
    client.post(path + "heartbeat", beat, started.get("taskToken").asText()).ok();
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
