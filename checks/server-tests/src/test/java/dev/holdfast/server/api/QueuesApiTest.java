package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues and schedules over HTTP. */
public class QueuesApiTest extends ServerTest {
  private static final String SECRET = "a-secret-of-some-length";

  QueuesApiTest(TestDatabase db) {
    super(db);
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.dispatchTo(Set.of("workers.example", "127.0.0.1:9000"));
  }

  @Test
  void no_job_of_a_paused_queue_is_claimed_until_it_is_resumed() {
    enqueued();
    assertThat(client.post("/v1/queues/work/pause", null).ok().get("pausedAt").asText())
        .isNotBlank();
    Map<String, Object> worker = Map.of("workerId", "w1");
    assertThat(client.post("/v1/queues/work/lease", worker, null).ok().get("tasks")).isEmpty();
    assertThat(client.post("/v1/queues/work/resume", null).ok().get("pausedAt").isNull()).isTrue();
    leased();
  }

  @Test
  void limits_are_set_together_or_alone_and_null_lifts_one() {
    JsonNode both =
        client
            .patch(
                "/v1/queues/work/limits",
                Map.of("maxRunning", 3, "rateLimit", Map.of("starts", 10, "periodMs", 1_000)),
                null)
            .ok();
    assertThat(both.get("maxRunning").asInt()).isEqualTo(3);
    assertThat(both.get("rateLimit").get("starts").asInt()).isEqualTo(10);
    assertThat(both.get("rateLimit").get("periodMs").asInt()).isEqualTo(1_000);
    JsonNode one = client.patch("/v1/queues/work/limits", Map.of("maxRunning", 5), null).ok();
    assertThat(one.get("maxRunning").asInt()).isEqualTo(5);
    assertThat(one.get("rateLimit").get("starts").asInt()).isEqualTo(10);
    JsonNode none =
        client
            .patch("/v1/queues/work/limits", Collections.singletonMap("maxRunning", null), null)
            .ok();
    assertThat(none.get("maxRunning").isNull()).isTrue();
    assertThat(none.get("rateLimit").get("starts").asInt()).isEqualTo(10);
  }

  @Test
  void an_invalid_limit_is_rejected_and_changes_nothing() {
    client.patch("/v1/queues/work/limits", Map.of("maxRunning", 3), null).ok();
    for (Map<String, Object> wrong :
        java.util.List.<Map<String, Object>>of(
            Map.of("maxRunning", 0),
            Map.of("rateLimit", Map.of("starts", 0, "periodMs", 1)),
            Map.of("maxRunning", 9, "rateLimit", Map.of("starts", 1, "periodMs", -1)))) {
      client.patch("/v1/queues/work/limits", wrong, null).is(422, "bad_limit");
    }
    client
        .patch("/v1/queues/work/limits", Map.of("rateLimit", Map.of("starts", 1)), null)
        .is(422, "invalid_value");
    assertThat(client.get("/v1/queues/work", null).ok().get("maxRunning").asInt()).isEqualTo(3);
  }

  @Test
  void a_setting_of_an_unknown_queue_reports_that_it_created_the_queue() {
    holdfast.enqueue(Job.of("echo").queue("work"));
    assertThat(client.post("/v1/queues/work/pause", null).ok().has("created")).isFalse();
    JsonNode typo = client.post("/v1/queues/wrok/pause", null).ok();
    assertThat(typo.get("created").asBoolean()).isTrue();
    assertThat(client.post("/v1/queues/wrok/resume", null).ok().has("created")).isFalse();
    JsonNode limits = client.patch("/v1/queues/soon/limits", Map.of("maxRunning", 3), null).ok();
    assertThat(limits.get("created").asBoolean()).isTrue();
    JsonNode again = client.patch("/v1/queues/soon/limits", Map.of("maxRunning", 4), null).ok();
    assertThat(again.has("created")).isFalse();
  }

  @Test
  void an_unused_queue_is_empty_and_an_invalid_name_is_rejected() {
    assertThat(client.get("/v1/queues/never", null).ok().get("due").asInt()).isZero();
    client.get("/v1/queues/a%20b", null).is(422, "bad_name");
    client.post("/v1/queues/%00/pause", null).is(422, "bad_name");
  }

  private Map<String, Object> dispatch(String url) {
    return new HashMap<>(Map.of("url", url, "secret", SECRET));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://workers.example/tasks",
        "https://WORKERS.example:8443/tasks?token=hidden",
        "http://127.0.0.1:9000/"
      })
  void a_dispatch_url_on_the_allow_list_is_accepted_and_its_secret_never_shown(String url) {
    // Paused, so that nothing is pushed meanwhile.
    client.post("/v1/queues/work/pause", null).ok();
    Client.Reply set = client.put("/v1/queues/work/dispatch", dispatch(url), null);
    set.ok();
    JsonNode list = client.get("/v1/queues", null).ok();
    assertThat(set.body().get("dispatch").get("maxInFlight").asInt()).isEqualTo(10);
    for (JsonNode shown : java.util.List.of(set.body(), list)) {
      assertThat(shown.toString()).contains("\"url\"").doesNotContain(SECRET, "hidden");
    }
    assertThat(client.delete("/v1/queues/work/dispatch", null).ok().get("dispatch").isNull())
        .isTrue();
    client.delete("/v1/queues/work/dispatch", null).is(404, "not_found");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://elsewhere.example/",
        "http://127.0.0.1:9001/",
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://workers.example@elsewhere.example/",
        "http://user@workers.example/",
        "http://workers.example/#there",
        "http://workers.example.elsewhere.example/",
        "ftp://workers.example/",
        "file:///etc/passwd",
        "//workers.example/",
        "workers.example",
        "http://",
        "http://workers.example\\\\@elsewhere.example/",
        "not a url",
        ""
      })
  void a_dispatch_url_not_on_the_allow_list_is_rejected(String url) {
    client.put("/v1/queues/work/dispatch", dispatch(url), null).is(422, "dispatch_not_allowed");
    assertThat(db.count("SELECT count(*) FROM holdfast.queue WHERE dispatch_url IS NOT NULL"))
        .isZero();
  }

  @Test
  void a_dispatch_without_a_secret_or_with_a_weak_one_is_rejected() {
    Map<String, Object> weak = dispatch("http://workers.example/");
    weak.put("secret", "short");
    Client.Reply reply = client.put("/v1/queues/work/dispatch", weak, null);
    reply.is(422, "bad_key");
    assertThat(reply.body().toString()).doesNotContain("short\"");
    client
        .put("/v1/queues/work/dispatch", Map.of("url", "http://workers.example/"), null)
        .is(422, "missing_field");
  }

  // ---- schedules

  @Test
  void a_schedule_is_set_changed_paused_resumed_and_removed() {
    JsonNode set =
        client
            .put(
                "/v1/schedules/nightly",
                Map.of(
                    "cron",
                    "0 3 * * *",
                    "zone",
                    "Europe/Berlin",
                    "kind",
                    "report",
                    "payload",
                    Map.of("n", 1),
                    "queue",
                    "mail",
                    "missedFires",
                    "SKIP",
                    "allowOverlap",
                    false),
                null)
            .ok();
    assertThat(set.get("cron").asText()).isEqualTo("0 3 * * *");
    assertThat(set.get("zone").asText()).isEqualTo("Europe/Berlin");
    assertThat(set.get("missedFires").asText()).isEqualTo("SKIP");
    assertThat(set.get("allowOverlap").asBoolean()).isFalse();
    assertThat(set.get("payload").get("n").asInt()).isEqualTo(1);
    client.put("/v1/schedules/nightly", Map.of("cron", "@hourly", "kind", "report"), null).ok();
    JsonNode all = client.get("/v1/schedules", null).ok().get("schedules");
    assertThat(all).hasSize(1);
    assertThat(all.get(0).get("cron").asText()).isEqualTo("@hourly");
    assertThat(client.post("/v1/schedules/nightly/pause", null).ok().get("pausedAt").isNull())
        .isFalse();
    client.post("/v1/schedules/nightly/pause", null).ok();
    assertThat(client.post("/v1/schedules/nightly/resume", null).ok().get("pausedAt").isNull())
        .isTrue();
    client.delete("/v1/schedules/nightly", null).ok();
    client.delete("/v1/schedules/nightly", null).is(404, "not_found");
    client.post("/v1/schedules/nightly/pause", null).is(404, "not_found");
  }

  @Test
  void an_invalid_schedule_is_rejected() {
    String path = "/v1/schedules/nightly";
    client.put(path, Map.of("kind", "a"), null).is(422, "missing_field");
    client.put(path, Map.of("cron", "now", "kind", "a"), null).is(422, "bad_schedule");
    client
        .put(path, Map.of("cron", "@daily", "kind", "a", "zone", "Atlantis"), null)
        .is(422, "bad_schedule");
    client
        .put(path, Map.of("cron", "@daily", "kind", "a", "missedFires", "NEVER"), null)
        .is(422, "invalid_value");
    client
        .put("/v1/schedules/a%20b", Map.of("cron", "@daily", "kind", "a"), null)
        .is(422, "bad_name");
    assertThat(client.get("/v1/schedules", null).ok().get("schedules")).isEmpty();
  }
}
