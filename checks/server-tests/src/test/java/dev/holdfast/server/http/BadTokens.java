package dev.holdfast.server.http;

import static dev.holdfast.server.http.Bench.BEAT;
import static dev.holdfast.server.http.Bench.DONE;
import static dev.holdfast.server.http.Bench.task;
import static dev.holdfast.server.http.Bench.token;

import com.auth0.jwt.algorithms.Algorithm;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.Client;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Supplier;

/** Requests with missing or invalid credentials. */
public final class BadTokens {
  private final Bench b;
  private final List<BadCase> cases = new ArrayList<>();

  private BadTokens(Bench bench) {
    this.b = bench;
  }

  public static List<BadCase> all(Bench bench) {
    BadTokens tokens = new BadTokens(bench);
    tokens.unbelievable();
    tokens.forOthers();
    tokens.late();
    tokens.keys();
    tokens.roles();
    return tokens.cases;
  }

  private void add(String name, int status, String error, Supplier<Client.Reply> request) {
    cases.add(BadCase.of(name, status, error, request));
  }

  private void invalid(String name, String token) {
    add(name, 401, "token_invalid", () -> b.withToken(token));
  }

  private static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private void unbelievable() {
    String good = token(b.running);
    String[] parts = good.split("\\.", -1);
    Instant now = Instant.now();
    add("no token", 401, "token_missing", () -> b.post(task(b.running, "heartbeat"), BEAT, null));
    add(
        "a token by another scheme",
        401,
        "token_invalid",
        () ->
            b.send(
                task(b.running, "heartbeat"),
                null,
                request ->
                    request
                        .header("Authorization", "Basic " + base64("a:b"))
                        .header("Content-Type", Answer.JSON)
                        .POST(java.net.http.HttpRequest.BodyPublishers.ofString(BEAT))));
    invalid("a garbage token", "garbage");
    invalid("a token of dots", "..");
    invalid("a token that is JSON in base64 and no more", base64("{}") + "." + base64("{}") + ".");
    invalid("a token over the limit", good + "x".repeat(4_100));
    invalid("a token with a character more", good + "A");
    invalid("a token with padding", good + "=");
    invalid("a token with a word after it", good + " x");
    // 43 characters are 258 bits, of which a decoder drops two: the next letter is the same byte.
    int end = good.length() - 1;
    invalid(
        "a token with other left-over bits",
        good.substring(0, end) + (char) (good.charAt(end) + 1));
    invalid("a truncated token", good.substring(0, good.length() - 6));
    invalid("a token with its signature cut off", parts[0] + "." + parts[1] + ".");
    invalid("a token without its third part", parts[0] + "." + parts[1]);
    invalid(
        "a token with another payload under the same signature",
        parts[0] + "." + base64("{\"sub\":\"" + JobId.next() + "\"}") + "." + parts[2]);
    invalid("a token of algorithm none", b.forged(t -> t, Algorithm.none()));
    invalid("a token signed with HS512", b.forged(t -> t, Algorithm.HMAC512(b.secret())));
    invalid(
        "a token that says RS256",
        base64("{\"alg\":\"RS256\",\"kid\":\"" + b.signingKey().kid() + "\"}")
            + "."
            + parts[1]
            + "."
            + parts[2]);
    invalid(
        "a token of a foreign secret",
        b.forged(
            t -> t,
            Algorithm.HMAC256(
                "another secret of 32 bytes or so".getBytes(StandardCharsets.UTF_8))));
    invalid("a token of an unknown key", b.forged(t -> t.withKeyId("000000000000")));
    invalid("a token of no key", b.forged(t -> t.withKeyId(null)));
    invalid("a key name of SQL", b.forged(t -> t.withKeyId("' OR '1'='1'; DROP TABLE job; --")));
    invalid("a key name that is a path", b.forged(t -> t.withKeyId("../../../../dev/null")));
    invalid("a key name with NUL", b.forged(t -> t.withKeyId("\0")));
    invalid("a key name of 2000 characters", b.forged(t -> t.withKeyId("k".repeat(2_000))));
    invalid("a token of another issuer", b.forged(t -> t.withIssuer("elsewhere")));
    invalid("a token for another audience", b.forged(t -> t.withAudience("holdfast:api")));
    invalid("a token without an attempt", b.forged(t -> t.withClaim("attempt", (Integer) null)));
    invalid("a token whose task is no id", b.forged(t -> t.withSubject("../etc")));
    add(
        "an expired token of an attempt that does not hold the task",
        401,
        "token_expired",
        () ->
            b.withToken(
                b.forged(t -> t.withClaim("attempt", 7).withExpiresAt(now.minusSeconds(120)))));
    add(
        "a token of tomorrow",
        401,
        "token_not_yet_valid",
        () ->
            b.withToken(
                b.forged(
                    t ->
                        t.withNotBefore(now.plusSeconds(80_000))
                            .withExpiresAt(now.plusSeconds(90_000)))));
    invalid("an API key on a task's route", b.admin);
  }

  private void forOthers() {
    add("another task's token", 403, "token_scope", () -> b.withToken(token(b.another)));
    add("another tenant's token", 403, "token_scope", () -> b.withToken(token(b.othersTask)));
    add(
        "a token for another attempt",
        403,
        "token_scope",
        () -> b.withToken(b.forged(t -> t.withClaim("attempt", 2))));
    add(
        "an attempt of the future",
        403,
        "token_scope",
        () -> b.beat("{\"attempt\":2,\"workerId\":\"w1\"}"));
    add(
        "a task that is no id",
        403,
        "token_scope",
        () -> b.post("/v1/tasks/nonsense/heartbeat", BEAT, token(b.running)));
    JobId nowhere = JobId.next();
    add(
        "a task that there is not",
        404,
        "not_found",
        () ->
            b.post(
                "/v1/tasks/" + nowhere + "/heartbeat",
                BEAT,
                b.forged(t -> t.withSubject(nowhere.toString()))));
    String step = task(b.running, "steps/build");
    step("with another task's token", 403, "token_scope", step, token(b.another));
    step(
        "with a token for another attempt",
        403,
        "token_scope",
        step,
        b.forged(t -> t.withClaim("attempt", 2)));
    step("with an API key", 401, "token_invalid", step, b.admin);
    add(
        "steps with another task's token",
        403,
        "token_scope",
        () -> b.get(task(b.running, "steps"), token(b.another)));
    add(
        "steps with a token for another attempt",
        409,
        "attempt_mismatch",
        () -> b.get(task(b.running, "steps"), b.forged(t -> t.withClaim("attempt", 2))));
    for (String path : List.of("/v1/jobs", "/v1/jobs/" + b.pending)) {
      add(
          "a task's token on " + path.replace(b.pending.toString(), "{id}"),
          401,
          "key_invalid",
          () -> b.get(path, token(b.running)));
    }
    add(
        "a task's token to lease with",
        401,
        "key_invalid",
        () -> b.post("/v1/queues/pending/lease", "{\"workerId\":\"w\"}", token(b.running)));
  }

  private void step(String name, int status, String error, String path, String token) {
    add("a step " + name, status, error, () -> b.step(path, Bench.STEP, token));
  }

  private void late() {
    step("of a stale attempt", 409, "attempt_mismatch", task(b.stale, "steps/s"), token(b.stale));
    step("after the end", 409, "task_already_terminal", task(b.ended, "steps/s"), token(b.ended));
    for (String callback : List.of("started", "heartbeat")) {
      add(
          callback + " of a stale attempt",
          409,
          "attempt_mismatch",
          () -> b.post(task(b.stale, callback), BEAT, token(b.stale)));
      boolean gone = callback.equals("heartbeat");
      add(
          callback + " after the end",
          gone ? 410 : 409,
          gone ? "task_expired" : "task_already_terminal",
          () -> b.post(task(b.ended, callback), BEAT, token(b.ended)));
    }
    add(
        "completion of a stale attempt",
        409,
        "attempt_mismatch",
        () -> b.post(task(b.stale, "completed"), DONE, token(b.stale)));
    add(
        "a second completion with another result",
        409,
        "task_already_terminal",
        () ->
            b.post(
                task(b.ended, "completed"), DONE.replace("}", ",\"output\":7}"), token(b.ended)));
    add(
        "a second completion with another outcome",
        409,
        "task_already_terminal",
        () ->
            b.post(
                task(b.ended, "completed"),
                DONE.replace("SUCCEEDED", "CANCELLED"),
                token(b.ended)));
    String ended = "/v1/jobs/" + b.ended.get("taskId").asText();
    add(
        "cancel of a finished job",
        409,
        "job_already_terminal",
        () -> b.post(ended + "/cancel", "{}", b.admin));
    add(
        "control of a finished job",
        409,
        "job_already_terminal",
        () -> b.post(ended + "/control", "{\"action\":\"pause\"}", b.admin));
    add(
        "retry of a finished job",
        409,
        "job_not_retryable",
        () -> b.post(ended + "/retry", "", b.admin));
  }

  private void keys() {
    String[] parts = b.admin.split("_", 3);
    add("no key", 401, "key_missing", () -> b.get("/v1/jobs", null));
    key("a garbage key", "garbage");
    key("a key of an unknown id", "hf_000000000000_" + parts[2]);
    key("a key with a wrong secret", "hf_" + parts[1] + "_" + "A".repeat(43));
    key("a key with a character more", b.admin + "A");
    key("a key with padding", b.admin + "=");
    key("a key with a word after it", b.admin + " x");
    key("a key with a truncated secret", b.admin.substring(0, b.admin.length() - 1));
    key("a key with an id of SQL", "hf_'OR'1'='1'--_x");
    key("a key of 5000 characters", "hf_" + parts[1] + "_" + "A".repeat(5_000));
    key("a revoked key", b.revoked);
    key("an expired key", b.expired);
  }

  private void key(String name, String key) {
    add(name, 401, "key_invalid", () -> b.get("/v1/jobs", key));
  }

  private void roles() {
    String cancel = "/v1/jobs/" + b.pending + "/cancel";
    forbidden("viewer", "submit", () -> b.post("/v1/jobs", "{\"kind\":\"k\"}", b.viewer));
    forbidden("viewer", "cancel", () -> b.post(cancel, "{}", b.viewer));
    String control = "/v1/jobs/" + b.pending + "/control";
    forbidden("viewer", "pause", () -> b.post(control, "{\"action\":\"pause\"}", b.viewer));
    forbidden("worker", "pause", () -> b.post(control, "{\"action\":\"pause\"}", b.worker));
    forbidden("worker", "see steps", () -> b.get("/v1/jobs/" + b.pending + "/steps", b.worker));
    forbidden("submitter", "cancel", () -> b.post(cancel, "{}", b.submitter));
    forbidden(
        "submitter",
        "lease",
        () -> b.post("/v1/queues/pending/lease", "{\"workerId\":\"w\"}", b.submitter));
    forbidden("worker", "look", () -> b.get("/v1/jobs", b.worker));
    forbidden("worker", "submit", () -> b.post("/v1/jobs", "{\"kind\":\"k\"}", b.worker));
    forbidden(
        "operator",
        "lease",
        () -> b.post("/v1/queues/pending/lease", "{\"workerId\":\"w\"}", b.operator));
    forbidden(
        "tenant's operator",
        "submit for others",
        () -> b.post("/v1/jobs", "{\"kind\":\"k\",\"tenant\":\"other\"}", b.acme));
    String other = "/v1/jobs/" + b.ofOther;
    add("another tenant's job", 404, "not_found", () -> b.get(other, b.acme));
    add(
        "cancel of another tenant's job",
        404,
        "not_found",
        () -> b.post(other + "/cancel", "{}", b.acme));
    add(
        "control of another tenant's job",
        404,
        "not_found",
        () -> b.post(other + "/control", "{\"action\":\"pause\"}", b.acme));
    add("another tenant's steps", 404, "not_found", () -> b.get(other + "/steps", b.acme));
    add(
        "retry of another tenant's job",
        404,
        "not_found",
        () -> b.post(other + "/retry", "", b.acme));
  }

  private void forbidden(String who, String what, Supplier<Client.Reply> request) {
    add("a " + who + " may not " + what, 403, "forbidden", request);
  }
}
