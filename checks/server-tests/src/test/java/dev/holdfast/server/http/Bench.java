package dev.holdfast.server.http;

import com.auth0.jwt.JWT;
import com.auth0.jwt.JWTCreator;
import com.auth0.jwt.algorithms.Algorithm;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Jobs in every state, keys of every role, and what is needed to send invalid requests. */
public final class Bench {
  static final String BEAT = "{\"attempt\":1,\"workerId\":\"w1\"}";
  static final String STEP =
      "{\"attempt\":1,\"stepIndex\":1,\"state\":\"RUNNING\",\"stepAttempt\":1}";
  static final String DONE = "{\"attempt\":1,\"workerId\":\"w1\",\"outcome\":\"SUCCEEDED\"}";

  final ServerTest test;
  final String admin;
  final String viewer;
  final String submitter;
  final String worker;
  final String operator;
  final String acme;
  final String revoked;
  final String expired;
  final JobId pending;
  final JobId ofOther;
  final JsonNode running;
  final JsonNode another;
  final JsonNode othersTask;
  final JsonNode ended;
  final JsonNode stale;

  public Bench(ServerTest test) {
    this.test = test;
    this.admin = test.key(Role.ADMIN, null);
    this.viewer = test.key(Role.VIEWER, null);
    this.submitter = test.key(Role.SUBMITTER, null);
    this.worker = test.key(Role.WORKER, null);
    this.operator = test.key(Role.OPERATOR, null);
    this.acme = test.key(Role.OPERATOR, "acme");
    this.revoked = test.key(Role.ADMIN, null);
    this.expired = test.key(Role.ADMIN, null);
    test.holdfast.store().admin().revokeKey(id(revoked), Duration.ZERO);
    test.db.sql(
        "UPDATE holdfast.api_key SET expires_at = now() - interval '1 second' WHERE id = ?",
        id(expired));
    this.ended = leased("ended", "default");
    post(task(ended, "completed"), DONE, token(ended));
    this.stale = leased("stale", "default");
    test.db.expireLeases();
    test.holdfast.store().maintenance().reap(Duration.ZERO);
    lease("stale");
    this.running = leased("running", "default");
    this.another = leased("another", "default");
    this.othersTask = leased("others", "other");
    this.pending = test.holdfast.enqueue(Job.of("echo").queue("pending")).id();
    this.ofOther =
        test.holdfast.enqueue(Job.of("echo").queue("pending").owner("other", "default")).id();
  }

  private static String id(String key) {
    return key.split("_", 3)[1];
  }

  private JsonNode leased(String queue, String tenant) {
    test.holdfast.enqueue(Job.of("echo").queue(queue).owner(tenant, "default"));
    return lease(queue);
  }

  private JsonNode lease(String queue) {
    return test.client
        .post("/v1/queues/" + queue + "/lease", Map.of("workerId", "w1"), admin)
        .ok()
        .get("tasks")
        .get(0);
  }

  /** All stored data of every job, as one text. */
  public String everything() {
    return test.db.query("SELECT j::text FROM holdfast.job j ORDER BY id")
        + " "
        + test.db.query("SELECT e::text FROM holdfast.event e ORDER BY 1")
        + test.db.query("SELECT s::text FROM holdfast.step s ORDER BY 1")
        + test.db.query("SELECT c::text FROM holdfast.job_command c ORDER BY 1");
  }

  static String task(JsonNode task, String callback) {
    return "/v1/tasks/" + task.get("taskId").asText() + "/" + callback;
  }

  static String token(JsonNode task) {
    return task.get("taskToken").asText();
  }

  Client.Reply get(String path, @Nullable String bearer) {
    return test.client.get(path, bearer);
  }

  Client.Reply post(String path, String body, @Nullable String bearer) {
    return send("POST", path, body.getBytes(StandardCharsets.UTF_8), bearer);
  }

  Client.Reply send(String method, String path, byte[] body, @Nullable String bearer) {
    return send(
        path,
        bearer,
        request ->
            request
                .header("Content-Type", Answer.JSON)
                .method(method, BodyPublishers.ofByteArray(body)));
  }

  Client.Reply send(
      String path, @Nullable String bearer, UnaryOperator<HttpRequest.Builder> request) {
    return test.client.send(request.apply(test.client.request(path, bearer)));
  }

  Client.Reply beat(String body) {
    return post(task(running, "heartbeat"), body, token(running));
  }

  Client.Reply done(String body) {
    return post(task(running, "completed"), body, token(running));
  }

  Client.Reply step(String path, String body, String token) {
    return send("PUT", path, body.getBytes(StandardCharsets.UTF_8), token);
  }

  Client.Reply withToken(String token) {
    return post(task(running, "heartbeat"), BEAT, token);
  }

  TokenKey signingKey() {
    return test.holdfast.store().admin().tokenKeys().getFirst();
  }

  byte[] secret() {
    return Base64.getDecoder().decode(signingKey().secret());
  }

  /** The token of the running task, with changes. */
  String forged(UnaryOperator<JWTCreator.Builder> change, Algorithm algorithm) {
    Instant now = Instant.now();
    return change
        .apply(
            JWT.create()
                .withKeyId(signingKey().kid())
                .withIssuer("holdfast")
                .withAudience("holdfast:task")
                .withSubject(running.get("taskId").asText())
                .withClaim("tenant", "default")
                .withClaim("workspace", "default")
                .withClaim("run", running.get("runId").asText())
                .withClaim("attempt", 1)
                .withIssuedAt(now)
                .withNotBefore(now)
                .withExpiresAt(now.plusSeconds(600)))
        .sign(algorithm);
  }

  String forged(UnaryOperator<JWTCreator.Builder> change) {
    return forged(change, Algorithm.HMAC256(secret()));
  }
}
