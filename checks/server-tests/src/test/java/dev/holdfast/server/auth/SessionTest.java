package dev.holdfast.server.auth;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.token.SignedTokens;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.api.SessionApi;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signing in on the page. */
public class SessionTest extends ServerTest {
  SessionTest(TestDatabase db) {
    super(db);
  }

  private Client.Reply signIn(String key) {
    return client.post("/v1/session", Map.of("key", key), null);
  }

  /** What a browser would send from then on. */
  private static String cookie(Client.Reply reply) {
    String set = reply.response().headers().firstValue("Set-Cookie").orElseThrow();
    return set.substring(0, set.indexOf(';'));
  }

  private Client.Reply get(String path, String cookie) {
    return client.send(client.request(path, null).header("Cookie", cookie).GET());
  }

  private Client.Reply pause(String cookie, @Nullable String origin) {
    var request = client.request("/v1/queues/work/pause", null).header("Cookie", cookie);
    if (origin != null) {
      request.header("Origin", origin);
    }
    return client.send(request.POST(BodyPublishers.noBody()));
  }

  private String page() {
    return server.url().toString();
  }

  @Test
  void without_keys_every_client_is_signed_in() {
    JsonNode me = client.get("/v1/session", null).ok();
    assertThat(me.get("signedIn").asBoolean()).isTrue();
    assertThat(me.get("name").asText()).isEqualTo("local");
    assertThat(me.get("expiresAt").isNull()).isTrue();
    assertThat(me.get("permissions").toString()).contains("operate", "administer");
  }

  @Test
  void a_session_has_the_permissions_of_its_key() {
    String viewer = key(Role.VIEWER, null);
    assertThat(client.get("/v1/session", null).ok().toString()).isEqualTo("{\"signedIn\":false}");
    Client.Reply in = signIn(" " + viewer + "\n");
    assertThat(in.ok().get("role").asText()).isEqualTo("viewer");
    assertThat(in.body().get("permissions").toString()).isEqualTo("[\"read\"]");
    Instant until = Instant.parse(in.body().get("expiresAt").asText());
    assertThat(Duration.between(holdfast.queries().now(), until))
        .isBetween(Sessions.LASTS.minusMinutes(1), Sessions.LASTS);
    assertThat(in.response().headers().firstValue("Set-Cookie").orElseThrow())
        .contains("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict")
        .doesNotContain("Secure", viewer, viewer.split("_", 3)[2]);
    assertThat(get("/v1/session", cookie(in)).ok().get("expiresAt").asText())
        .isEqualTo(until.toString());
    get("/v1/jobs", cookie(in)).ok();
    pause(cookie(in), page()).is(403, "forbidden");

    String operator = cookie(signIn(key(Role.OPERATOR, null)));
    pause(operator, page()).ok();
    get("/v1/keys", operator).is(403, "forbidden");
  }

  @Test
  void a_session_of_one_tenant_sees_that_tenant() {
    String cookie = cookie(signIn(key(Role.OPERATOR, "acme")));
    get("/v1/jobs/" + enqueued(), cookie).is(404, "not_found");
    pause(cookie, page()).is(403, "forbidden");
  }

  /**
   * A browser shows the cookie to other ports of the machine, and for pages that come from there.
   */
  @ParameterizedTest
  @ValueSource(strings = {"http://127.0.0.1:1", "http://127.0.0.1", "null", "https://evil.example"})
  void with_a_cookie_writes_are_accepted_only_from_the_same_origin(String origin) {
    String cookie = cookie(signIn(key(Role.OPERATOR, null)));
    pause(cookie, origin).is(403, "origin_not_allowed");
    pause(cookie, null).is(403, "origin_not_allowed");
    assertThat(db.count("SELECT count(*) FROM holdfast.queue WHERE paused_at IS NOT NULL"))
        .isZero();
    pause(cookie, page()).ok();
  }

  @Test
  void a_request_with_a_key_needs_no_origin_and_the_key_takes_precedence() {
    String cookie = cookie(signIn(key(Role.OPERATOR, null)));
    client
        .send(
            client
                .request("/v1/queues/work/pause", key(Role.VIEWER, null))
                .header("Cookie", cookie)
                .POST(BodyPublishers.noBody()))
        .is(403, "forbidden");
  }

  @ParameterizedTest
  @EnumSource(names = "WORKER")
  void a_worker_key_cannot_sign_in(Role role) {
    Client.Reply refused = signIn(key(role, null)).is(403, "forbidden");
    assertThat(refused.response().headers().firstValue("Set-Cookie")).isEmpty();
  }

  @Test
  void invalid_keys_get_no_session_and_are_rate_limited() {
    key(Role.VIEWER, null);
    signIn("hf_000000000000_nothing").is(401, "key_invalid");
    signIn("nonsense").is(401, "key_invalid");
    client.post("/v1/session", Map.of("password", "x"), null).is(422, "missing_field");
    Awaitility.await()
        .pollInterval(Duration.ofMillis(1))
        .atMost(SOON)
        .until(() -> signIn("hf_000000000000_nothing").status() == 429);
  }

  @Test
  void a_cookie_that_was_tampered_with_is_rejected() {
    String viewer = key(Role.VIEWER, null);
    String admin = key(Role.ADMIN, null);
    String cookie = cookie(signIn(viewer));
    String[] parts = cookie.substring(cookie.indexOf('=') + 1).split("\\.", -1);
    String name = cookie.substring(0, cookie.indexOf('=') + 1);
    get("/v1/jobs", name + String.join(".", parts)).ok();
    JsonNode claims = Wire.tree(decoded(parts[1]).getBytes(StandardCharsets.UTF_8));
    long until = claims.get("exp").asLong();
    String viewerId = viewer.split("_", 3)[1];
    String adminId = admin.split("_", 3)[1];
    enqueued();
    String taskToken =
        client
            .post("/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w"), admin)
            .ok()
            .at("/tasks/0/taskToken")
            .asText();
    for (String forged :
        new String[] {
          String.join(".", parts[0], replaced(parts[1], viewerId, adminId), parts[2]),
          String.join(".", parts[0], replaced(parts[1], "" + until, "" + (until + 1)), parts[2]),
          String.join(".", replaced(parts[0], kid(parts[0]), "000000000000"), parts[1], parts[2]),
          String.join(".", replaced(parts[0], "HS256", "none"), parts[1], ""),
          String.join(".", replaced(parts[0], "HS256", "none"), parts[1], parts[2]),
          String.join(".", parts[0], parts[1], ""),
          String.join(".", parts[0], parts[1]),
          taskToken,
          viewer,
          "x".repeat(5_000),
          ""
        }) {
      get("/v1/jobs", name + forged).is(401, "key_missing");
    }
  }

  private static String decoded(String part) {
    return new String(Base64.getUrlDecoder().decode(part), StandardCharsets.UTF_8);
  }

  /** A part of a token with other content, under the signature that was made for the old one. */
  private static String replaced(String part, String old, String text) {
    assertThat(decoded(part)).contains(old);
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(decoded(part).replace(old, text).getBytes(StandardCharsets.UTF_8));
  }

  private static String kid(String header) {
    return Wire.tree(decoded(header).getBytes(StandardCharsets.UTF_8)).get("kid").asText();
  }

  @Test
  void a_session_is_not_accepted_as_a_task_token() {
    String viewer = key(Role.VIEWER, null);
    String cookie = cookie(signIn(viewer));
    JobId job = enqueued();
    client
        .post(
            "/v1/tasks/" + job + "/started",
            Map.of("attempt", 1, "workerId", "w"),
            cookie.substring(cookie.indexOf('=') + 1))
        .is(401, "token_invalid");
  }

  @Test
  void a_token_of_another_audience_is_not_accepted_as_a_session() {
    Keyring keyring = new Keyring(holdfast.store().admin());
    InstantSource clock = holdfast.queries()::now;
    Instant until = clock.instant().plus(Sessions.LASTS);
    SignedTokens others =
        new SignedTokens("task token", "holdfast:task", Duration.ZERO, keyring, clock);
    assertThat(
            new Sessions(keyring, clock)
                .read(others.sign(token -> token.withSubject("8f2b6c0d91ae").withExpiresAt(until))))
        .isEmpty();
  }

  @Test
  void a_session_ends_by_expiry_by_revocation_of_its_key_and_by_sign_out() {
    Instant[] now = {holdfast.queries().now()};
    Keyring keyring = new Keyring(holdfast.store().admin());
    Sessions sessions = new Sessions(keyring, () -> now[0]);
    String cookie = sessions.signed(sessions.begin("8f2b6c0d91ae"));
    assertThat(sessions.read(cookie).orElseThrow().key()).isEqualTo("8f2b6c0d91ae");
    now[0] = now[0].plus(Sessions.LASTS);
    assertThat(sessions.read(cookie)).isEmpty();

    String key = key(Role.VIEWER, null);
    key(Role.ADMIN, null);
    Client.Reply in = signIn(key);
    Client.Reply out =
        client.send(
            client
                .request("/v1/session", null)
                .header("Cookie", cookie(in))
                .header("Origin", page())
                .DELETE());
    out.ok();
    assertThat(out.response().headers().firstValue("Set-Cookie").orElseThrow())
        .startsWith(cookie(out))
        .contains("=; Path=/; Max-Age=0;");
    holdfast.store().admin().revokeKey(key.split("_", 3)[1], Duration.ZERO);
    Awaitility.await().atMost(SOON).until(() -> get("/v1/jobs", cookie(in)).status() == 401);
  }

  @Test
  void a_session_is_valid_on_every_server_of_the_database() {
    Client.Reply in = signIn(key(Role.VIEWER, null));
    try (HoldfastServer other = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0))) {
      String there = Sessions.cookieName(Optional.of("127.0.0.1:" + other.url().getPort()));
      String value = cookie(in).substring(cookie(in).indexOf('='));
      Client client = new Client(other.url());
      client.send(client.request("/v1/jobs", null).header("Cookie", there + value).GET()).ok();
    }
  }

  @Test
  void the_cookie_is_secure_where_the_page_is_served_over_tls() throws Exception {
    ServerOptions options =
        ServerOptions.DEFAULT.port(0).publicUrl(URI.create("https://jobs.example.org"));
    String key = key(Role.OPERATOR, null);
    try (HoldfastServer behindProxy = HoldfastServer.start(holdfast, options)) {
      Client client = new Client(behindProxy.url());
      Client.Reply in = client.post("/v1/session", Map.of("key", key), null);
      assertThat(in.response().headers().firstValue("Set-Cookie").orElseThrow())
          .endsWith("; Secure");
    }
  }

  @Test
  void servers_of_one_machine_have_different_cookie_names() {
    assertThat(Sessions.cookieName(Optional.of("localhost:8420")))
        .isEqualTo("holdfast_session_8420");
    assertThat(Sessions.cookieName(Optional.of("[::1]:8420"))).isEqualTo("holdfast_session_8420");
    assertThat(Sessions.cookieName(Optional.of("[::1]"))).isEqualTo("holdfast_session");
    assertThat(Sessions.cookieName(Optional.of("jobs.example.org"))).isEqualTo("holdfast_session");
    assertThat(Sessions.cookieName(Optional.of("a:b; Path=/x"))).isEqualTo("holdfast_session");
    assertThat(
            Sessions.cookie(
                Optional.of("a=b; holdfast_session_1=x;holdfast_session=y"), Optional.of("h")))
        .contains("y");
  }

  @Test
  void the_text_form_of_a_request_does_not_contain_its_key() {
    assertThat(Wire.read(Wire.write(Map.of("key", "hf_secret")), SessionApi.SessionRequest.class))
        .hasToString("a key");
  }
}
