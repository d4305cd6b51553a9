package dev.holdfast.server.http;

import static dev.holdfast.server.http.Bench.BEAT;
import static dev.holdfast.server.http.Bench.task;
import static dev.holdfast.server.http.Bench.token;

import dev.holdfast.model.job.JobId;
import dev.holdfast.server.Client;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Paths, parameters, methods and headers that lead nowhere. */
public final class BadRequests {
  private final Bench b;
  private final List<BadCase> cases = new ArrayList<>();

  private BadRequests(Bench bench) {
    this.b = bench;
  }

  public static List<BadCase> all(Bench bench) {
    BadRequests requests = new BadRequests(bench);
    requests.paths();
    requests.parameters();
    requests.headers();
    requests.artifacts();
    requests.steps();
    requests.bulk();
    requests.dispatches();
    requests.settings();
    return requests.cases;
  }

  private void add(String name, int status, String error, Supplier<Client.Reply> request) {
    cases.add(BadCase.of(name, status, error, request));
  }

  private void get(String path, int status, String error) {
    add("GET " + path, status, error, () -> b.get(path, b.admin));
  }

  private void paths() {
    get("/nowhere", 404, "not_found");
    get("/v1", 404, "not_found");
    get("/v1/nothing", 404, "not_found");
    get("/v2/jobs", 404, "not_found");
    get("//v1/jobs", 404, "not_found");
    get("/v1/jobs/", 400, "bad_id");
    get("/v1/jobs/nonsense", 400, "bad_id");
    get("/v1/jobs/1-1-1-1-1", 400, "bad_id");
    get("/v1/jobs/" + "9".repeat(3_000), 400, "bad_id");
    get("/v1/jobs/%00", 400, "bad_id");
    get("/v1/jobs/'%20OR%201=1--", 400, "bad_id");
    get("/v1/jobs/..%2F..%2Fetc", 400, "bad_id");
    get("/v1/jobs/%ff%fe", 400, "bad_request");
    String nowhere = "/v1/jobs/" + JobId.next();
    for (String path :
        List.of(
            "",
            "/timeline",
            "/attempts",
            "/result",
            "/artifacts",
            "/artifacts/a",
            "/steps",
            "/steps/s/patch")) {
      add("GET of no job" + path, 404, "not_found", () -> b.get(nowhere + path, b.admin));
    }
    add("cancel of no job", 404, "not_found", () -> b.post(nowhere + "/cancel", "{}", b.admin));
    add("retry of no job", 404, "not_found", () -> b.post(nowhere + "/retry", "", b.admin));
  }

  private void parameters() {
    get("/v1/jobs?limit=0", 422, "invalid_value");
    get("/v1/jobs?limit=201", 422, "invalid_value");
    get("/v1/jobs?limit=many", 422, "invalid_value");
    get("/v1/jobs?limit=99999999999", 422, "invalid_value");
    get("/v1/jobs?limit=1&limit=2", 422, "invalid_value");
    get("/v1/jobs?state=DEAD", 422, "invalid_value");
    get("/v1/jobs?cursor=nonsense", 422, "invalid_value");
    get("/v1/jobs?runId=nonsense", 400, "bad_id");
    get("/v1/jobs?q=%00", 422, "invalid_value");
    get("/v1/jobs?q=" + "x".repeat(201), 422, "invalid_value");
    get("/v1/jobs?stat=FAILED", 422, "unknown_parameter");
    get("/v1/jobs?queue=%00", 422, "bad_name");
    get("/v1/jobs?kind=a%20b", 422, "bad_name");
    get("/v1/jobs?tenant=%00", 422, "bad_name");
  }

  private void headers() {
    String heartbeat = task(b.running, "heartbeat");
    add("GET of a heartbeat", 405, "method_not_allowed", () -> b.get(heartbeat, token(b.running)));
    add(
        "DELETE of the jobs",
        405,
        "method_not_allowed",
        () -> b.test.client.delete("/v1/jobs", b.admin));
    add(
        "a method that nobody knows",
        405,
        "method_not_allowed",
        () -> b.send("/v1/jobs", b.admin, r -> r.method("BREW", BodyPublishers.noBody())));
    add(
        "a body said to be a form",
        415,
        "unsupported_media_type",
        () ->
            b.send(
                heartbeat,
                token(b.running),
                r ->
                    r.header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(BEAT))));
    add(
        "a body said to be text",
        415,
        "unsupported_media_type",
        () ->
            b.send(
                "/v1/jobs",
                b.admin,
                r ->
                    r.header("Content-Type", "text/plain")
                        .POST(BodyPublishers.ofString("{\"kind\":\"k\"}"))));
    add(
        "a body said to be nothing",
        415,
        "unsupported_media_type",
        () -> b.send(heartbeat, token(b.running), r -> r.POST(BodyPublishers.ofString(BEAT))));
    add(
        "an answer wanted as a picture",
        406,
        "not_acceptable",
        () -> b.send("/v1/jobs", b.admin, r -> r.header("Accept", "image/png").GET()));
    add(
        "a request from a page of somebody else",
        403,
        "origin_not_allowed",
        () -> b.send("/v1/jobs", b.admin, r -> r.header("Origin", "https://evil.example").GET()));
    add(
        "a request from a page without a name",
        403,
        "origin_not_allowed",
        () -> b.send("/v1/jobs", b.admin, r -> r.header("Origin", "null").GET()));
    add(
        "an idempotency key of 300 characters",
        422,
        "bad_key",
        () ->
            b.send(
                "/v1/jobs",
                b.admin,
                r ->
                    r.header("Idempotency-Key", "k".repeat(300))
                        .header("Content-Type", Answer.JSON)
                        .POST(BodyPublishers.ofString("{\"kind\":\"k\"}"))));
  }

  private void artifacts() {
    String folder = "/v1/jobs/" + b.pending + "/artifacts/";
    for (String name :
        List.of(
            "..",
            "%2e%2e",
            "..%2f..%2f..%2fetc%2fpasswd",
            "%2e%2e%2fsecret",
            "..%5c..%5csecret",
            "%2fetc%2fpasswd",
            ".hidden",
            "a%00.txt",
            "a%0ab",
            "%20",
            "x".repeat(201))) {
      get(folder + name, 422, "bad_name");
    }
    get(folder + "..%252f..%252fetc", 422, "bad_name");
    get(folder + "%c0%ae%c0%ae", 400, "bad_request");
    get(folder + "a/../../b", 404, "not_found");
  }

  private void steps() {
    String steps = "/v1/jobs/" + b.pending + "/steps/";
    get(steps + "nonsense/patch", 404, "not_found");
    for (String name : List.of("..", "%2e%2e%2fetc", "a%00b", "-o", "a%0ab", "a%20b")) {
      get(steps + name + "/patch", 422, "bad_name");
    }
    get(steps + "x".repeat(101) + "/patch", 422, "bad_name");
    get("/v1/leases/steps", 400, "bad_id");
    get("/v1/leases/steps?job=" + b.pending, 422, "unknown_parameter");
    get("/v1/leases/steps?taskId=" + b.pending, 422, "invalid_value");
    get("/v1/leases/steps?taskId=" + b.pending + "&attempt=0&workerId=w1", 422, "invalid_value");
    get("/v1/leases/steps?taskId=" + b.pending + "&attempt=1&workerId=", 422, "bad_key");
    get("/v1/leases/patch?taskId=" + b.pending, 422, "bad_name");
    get(
        "/v1/leases/patch?taskId=" + b.pending + "&attempt=1&workerId=w1&stepId=a",
        404,
        "no_patch");
    String mine = task(b.running, "steps");
    add(
        "steps with a parameter",
        422,
        "unknown_parameter",
        () -> b.get(mine + "?state=DONE", token(b.running)));
    add(
        "a step of a name of signs",
        422,
        "bad_name",
        () -> b.step(mine + "/a%00b", Bench.STEP, token(b.running)));
    patch("a patch that is not whole", 400, "body_incomplete", "?patchBytes=1000", 10);
    patch("a patch of any size", 422, "invalid_value", "", 10);
    patch("a patch of less than nothing", 422, "invalid_value", "?patchBytes=-1", 10);
    patch("a patch over 64 MiB", 422, "invalid_value", "?patchBytes=67108865", 10);
    patch("a report that is none", 400, "malformed_json", "?patchBytes=0", 10);
    patch("a body over the limit", 413, "body_too_large", "", 72 << 20);
    add(
        "a patch said to be JSON",
        415,
        "unsupported_media_type",
        () -> b.post("/v1/leases/step", "{}", b.admin));
  }

  private void patch(String name, int status, String error, String query, int bytes) {
    add(
        name,
        status,
        error,
        () ->
            b.send(
                "/v1/leases/step" + query,
                b.admin,
                r ->
                    r.header("Content-Type", Answer.BYTES)
                        .POST(BodyPublishers.ofByteArray(new byte[bytes]))));
  }

  private void bulk() {
    bulk("neither ids nor a filter", 422, "invalid_value", "{}");
    bulk(
        "both ids and a filter",
        422,
        "invalid_value",
        "{\"ids\":[\"" + b.pending + "\"],\"filter\":{\"queue\":\"q\"}}");
    bulk("no ids", 422, "invalid_value", "{\"ids\":[]}");
    bulk("null for an id", 422, "invalid_value", "{\"ids\":[null]}");
    bulk("an id that is none", 400, "bad_id", "{\"ids\":[\"x\"]}");
    bulk("a filter that is empty", 422, "invalid_value", "{\"filter\":{}}");
    bulk("an unknown filter", 422, "unknown_field", "{\"filter\":{\"queue\":\"q\",\"kid\":\"q\"}}");
    bulk("a state that has ended", 422, "invalid_value", "{\"filter\":{\"state\":\"SUCCEEDED\"}}");
    bulk("a queue with NUL", 422, "bad_name", "{\"filter\":{\"queue\":\"\\u0000\"}}");
    bulk(
        "a reason of 1001 characters",
        422,
        "invalid_value",
        "{\"ids\":[\"" + b.pending + "\"],\"reason\":\"" + "r".repeat(1_001) + "\"}");
    bulk(
        "a reason with NUL",
        422,
        "invalid_value",
        "{\"ids\":[\"" + b.pending + "\"],\"reason\":\"\\u0000\"}");
  }

  private void dispatches() {
    for (String url :
        List.of(
            "file:///etc/passwd",
            "ftp://good.example/",
            "http://user:password@good.example/",
            "http://good.example@127.0.0.1/",
            "http://127.0.0.1:5432/",
            "http://localhost/",
            "http://[::1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/",
            "http://2130706433/",
            "http://evil.example/",
            "http://good.example.evil.example/",
            "http://good.example/#fragment",
            "//good.example/",
            "good.example",
            "http:///",
            "http://good.example/ space",
            "javascript:alert(1)",
            "")) {
      put(
          "/v1/queues/pending/dispatch",
          "to '" + url + "'",
          "dispatch_not_allowed",
          "{\"url\":\"" + url + "\",\"secret\":\"0123456789abcdef\"}");
    }
    String good = "{\"url\":\"http://good.example/\",\"secret\":";
    put("/v1/queues/pending/dispatch", "with a short secret", "bad_key", good + "\"short\"}");
    put(
        "/v1/queues/pending/dispatch",
        "with a header in the secret",
        "bad_key",
        good + "\"0123456789abcdef\\r\\nX: y\"}");
    put(
        "/v1/queues/pending/dispatch",
        "with room for none",
        "bad_limit",
        good + "\"0123456789abcdef\",\"maxInFlight\":0}");
    put(
        "/v1/queues/a%20b/dispatch",
        "of a queue of signs", "bad_name", good + "\"0123456789abcdef\"}");
  }

  private void put(String path, String name, String error, String body) {
    add(
        "PUT " + path + " " + name,
        422,
        error,
        () -> b.send("PUT", path, body.getBytes(StandardCharsets.UTF_8), b.admin));
  }

  private void settings() {
    put("/v1/queues/pending/limits", "none at once", "invalid_value", "{\"maxRunning\":0}");
    put(
        "/v1/queues/pending/limits",
        "no rate",
        "invalid_value",
        "{\"rateLimit\":{\"starts\":0,\"periodMs\":1}}");
    put(
        "/v1/queues/pending/limits",
        "a rate over ages",
        "invalid_value",
        "{\"rateLimit\":{\"starts\":1,\"periodMs\":9223372036854775807}}");
    put("/v1/schedules/s", "no cron", "missing_field", "{\"kind\":\"k\"}");
    put(
        "/v1/schedules/s",
        "a cron that is none",
        "bad_schedule",
        "{\"kind\":\"k\",\"cron\":\"61 * * * *\"}");
    put(
        "/v1/schedules/s",
        "a cron that never comes",
        "bad_schedule",
        "{\"kind\":\"k\",\"cron\":\"0 0 30 2 *\"}");
    put(
        "/v1/schedules/s",
        "a zone that is none",
        "bad_schedule",
        "{\"kind\":\"k\",\"cron\":\"* * * * *\",\"zone\":\"Mars\"}");
    put(
        "/v1/schedules/a%20b",
        "a name of signs", "bad_name", "{\"kind\":\"k\",\"cron\":\"* * * * *\"}");
    add(
        "pausing no schedule",
        404,
        "not_found",
        () -> b.post("/v1/schedules/nothing/pause", "", b.admin));
    get("/v1/queues/a%00b", 422, "bad_name");
    String keys = "/v1/keys";
    add(
        "a key of no role",
        422,
        "bad_name",
        () -> b.post(keys, "{\"name\":\"n\",\"role\":\"king\"}", b.admin));
    add(
        "a key without a name",
        422,
        "missing_field",
        () -> b.post(keys, "{\"role\":\"admin\"}", b.admin));
    add(
        "a key of a tenant of signs",
        422,
        "bad_name",
        () -> b.post(keys, "{\"name\":\"n\",\"role\":\"admin\",\"tenant\":\"a b\"}", b.admin));
    add(
        "a key that ends at once",
        422,
        "invalid_value",
        () -> b.post(keys, "{\"name\":\"n\",\"role\":\"admin\",\"expiresInMs\":0}", b.admin));
    add(
        "a key by an operator",
        403,
        "forbidden",
        () -> b.post(keys, "{\"name\":\"n\",\"role\":\"admin\"}", b.operator));
    add("the keys for a viewer", 403, "forbidden", () -> b.get(keys, b.viewer));
    add(
        "revoking no key",
        404,
        "not_found",
        () -> b.test.client.delete(keys + "/000000000000", b.admin));
    add("rotating no key", 404, "not_found", () -> b.post(keys + "/x'--/rotate", "{}", b.admin));
    add(
        "a tenant's operator pausing",
        403,
        "forbidden",
        () -> b.post("/v1/queues/pending/pause", "", b.acme));
    add("a tenant's operator scheduling", 403, "forbidden", () -> b.get("/v1/schedules", b.acme));
    add(
        "signing keys turned by an operator",
        403,
        "forbidden",
        () -> b.post("/v1/signing-keys/rotate", "", b.operator));
  }

  private void bulk(String name, int status, String error, String body) {
    add("cancel: " + name, status, error, () -> b.post("/v1/jobs/cancel", body, b.admin));
  }
}
