package dev.holdfast.server.api;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys over HTTP: created, shown once, rotated, revoked. */
public class KeysTest extends ServerTest {
  KeysTest(TestDatabase db) {
    super(db);
  }

  private JsonNode made(Map<String, Object> body, @Nullable String bearer) {
    Client.Reply reply = client.post("/v1/keys", body, bearer);
    assertThat(reply.status()).as(() -> reply.body().toString()).isEqualTo(201);
    return reply.body();
  }

  private String admin() {
    return key(Role.ADMIN, null);
  }

  @Test
  void a_key_is_shown_once_and_stored_as_a_digest() {
    String admin = admin();
    JsonNode key = made(Map.of("name", "ci", "role", "submitter", "tenant", "acme"), admin);
    String text = key.get("key").asText();
    String start = "hf_" + key.get("id").asText() + "_";
    assertThat(text).startsWith(start).hasSizeGreaterThan(start.length() + 30);
    String secret = text.substring(start.length());
    assertThat(client.post("/v1/jobs", Map.of("kind", "a"), text).status()).isEqualTo(201);

    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.api_key k WHERE position(? IN k::text) > 0", secret))
        .isZero();
    JsonNode all = client.get("/v1/keys", admin).ok();
    assertThat(all.toString()).doesNotContain(secret).doesNotContain("digest");
    JsonNode listed = all.get("keys").get(1);
    assertThat(listed.get("name").asText()).isEqualTo("ci");
    assertThat(listed.get("role").asText()).isEqualTo("submitter");
    assertThat(listed.get("tenant").asText()).isEqualTo("acme");
  }

  @Test
  void the_first_key_must_be_an_admin_of_all_tenants_and_makes_keys_required() {
    client.post("/v1/keys", Map.of("name", "a", "role", "viewer"), null).is(422, "first_key");
    client
        .post("/v1/keys", Map.of("name", "a", "role", "admin", "tenant", "acme"), null)
        .is(422, "first_key");
    client.get("/v1/jobs", null).ok();
    String key = made(Map.of("name", "a", "role", "admin"), null).get("key").asText();
    client.get("/v1/jobs", null).is(401, "key_missing");
    client.get("/v1/jobs", key).ok();
  }

  @ParameterizedTest
  @ValueSource(strings = {"hf_%s_", "hf_%s", "hf__", "hf_%s_ ", "hf_%s_null", "%s"})
  void a_key_without_its_secret_is_rejected(String form) {
    String admin = admin();
    client.get("/v1/jobs", admin).ok();
    String id = admin.split("_", 3)[1];
    client.get("/v1/jobs", form.formatted(id)).is(401, "key_invalid");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "Bearer", "Bearer ", "Basic YTpi"})
  void an_authorization_header_without_a_key_is_not_treated_as_absent(String authorization) {
    // On loopback, while no keys exist, a request without credentials has every permission.
    client.get("/v1/jobs", null).ok();
    assertNothingOpens(authorization);
    admin();
    assertNothingOpens(authorization);
  }

  private void assertNothingOpens(String authorization) {
    client
        .send(client.request("/v1/jobs", null).header("Authorization", authorization).GET())
        .is(401, "key_invalid");
  }

  @Test
  void a_revoked_key_is_rejected() {
    String admin = admin();
    JsonNode key = made(Map.of("name", "ci", "role", "viewer"), admin);
    String text = key.get("key").asText();
    client.get("/v1/jobs", text).ok();
    client.delete("/v1/keys/" + key.get("id").asText(), admin).ok();
    client.get("/v1/jobs", text).is(401, "key_invalid");
    client.delete("/v1/keys/" + key.get("id").asText(), admin).is(404, "not_found");
    client.delete("/v1/keys/000000000000", admin).is(404, "not_found");
  }

  @Test
  void both_keys_are_valid_during_a_rotation_and_then_only_the_new_one() {
    String admin = admin();
    JsonNode old = made(Map.of("name", "ci", "role", "viewer", "tenant", "acme"), admin);
    Client.Reply reply =
        client.post(
            "/v1/keys/" + old.get("id").asText() + "/rotate",
            Map.of("overlapMs", Duration.ofHours(1).toMillis()),
            admin);
    assertThat(reply.status()).isEqualTo(201);
    String fresh = reply.body().get("key").asText();
    assertThat(reply.body().get("tenant").asText()).isEqualTo("acme");
    client.get("/v1/jobs", old.get("key").asText()).ok();
    client.get("/v1/jobs", fresh).ok();

    db.sql(
        "UPDATE holdfast.api_key SET revoked_at = now() - interval '1 second' WHERE id = ?",
        old.get("id").asText());
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> client.get("/v1/jobs", old.get("key").asText()).is(401, "key_invalid"));
    client.get("/v1/jobs", fresh).ok();
    client
        .post("/v1/keys/" + old.get("id").asText() + "/rotate", Map.of(), admin)
        .is(404, "not_found");
  }

  @Test
  void a_rotation_without_overlap_ends_the_old_key_at_once() {
    String admin = admin();
    JsonNode old = made(Map.of("name", "ci", "role", "viewer"), admin);
    client.get("/v1/jobs", old.get("key").asText()).ok();
    client.post("/v1/keys/" + old.get("id").asText() + "/rotate", Map.of("overlapMs", 0), admin);
    client.get("/v1/jobs", old.get("key").asText()).is(401, "key_invalid");
  }

  @Test
  void a_key_expires() {
    String admin = admin();
    JsonNode key =
        made(
            Map.of("name", "ci", "role", "viewer", "expiresInMs", Duration.ofHours(1).toMillis()),
            admin);
    client.get("/v1/jobs", key.get("key").asText()).ok();
    db.sql(
        "UPDATE holdfast.api_key SET expires_at = now() - interval '1 second' WHERE id = ?",
        key.get("id").asText());
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> client.get("/v1/jobs", key.get("key").asText()).is(401, "key_invalid"));
  }

  @Test
  void an_expiring_key_cannot_create_one_that_expires_later() {
    long hour = Duration.ofHours(1).toMillis();
    String mortal =
        made(Map.of("name", "a", "role", "admin", "expiresInMs", hour), admin())
            .get("key")
            .asText();
    client.post("/v1/keys", Map.of("name", "b", "role", "viewer"), mortal).is(403, "forbidden");
    client
        .post("/v1/keys", Map.of("name", "b", "role", "viewer", "expiresInMs", 2 * hour), mortal)
        .is(403, "forbidden");
    made(Map.of("name", "b", "role", "viewer", "expiresInMs", hour / 2), mortal);
    String id = mortal.split("_", 3)[1];
    JsonNode rotated = client.post("/v1/keys/" + id + "/rotate", Map.of(), mortal).body();
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.api_key a, holdfast.api_key b WHERE a.id = ?"
                    + " AND b.id = ? AND b.expires_at <= a.expires_at + interval '5 seconds'",
                id,
                rotated.get("id").asText()))
        .isEqualTo(1);
  }

  @Test
  void an_expiring_key_cannot_rotate_one_that_expires_later() {
    long hour = Duration.ofHours(1).toMillis();
    String admin = admin();
    String mortal =
        made(Map.of("name", "a", "role", "admin", "expiresInMs", hour), admin).get("key").asText();
    String forever = admin.split("_", 3)[1];
    client.post("/v1/keys/" + forever + "/rotate", Map.of(), mortal).is(403, "forbidden");
    String longer =
        made(Map.of("name", "b", "role", "viewer", "expiresInMs", 2 * hour), admin)
            .get("id")
            .asText();
    client.post("/v1/keys/" + longer + "/rotate", Map.of(), mortal).is(403, "forbidden");
  }

  @ParameterizedTest
  @CsvSource({
    "'', viewer, 1000, bad_key",
    "a, king, 1000, bad_name",
    "a, viewer, 0, invalid_value",
    "a, viewer, 999999999999999, invalid_value"
  })
  void an_invalid_key_request_is_rejected(String name, String role, long ms, String error) {
    client
        .post("/v1/keys", Map.of("name", name, "role", role, "expiresInMs", ms), admin())
        .is(422, error);
  }

  @Test
  void task_tokens_stay_valid_when_the_signing_key_is_rotated() {
    enqueued();
    enqueued();
    JsonNode before = leased();
    JsonNode kid = client.post("/v1/signing-keys/rotate", null).ok();
    assertThat(kid.size()).isEqualTo(1);
    JsonNode after = leased();
    for (JsonNode task : java.util.List.of(before, after)) {
      callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.signing_key WHERE retired_at IS NULL"))
        .isEqualTo(1);
  }
}
