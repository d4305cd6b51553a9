package dev.holdfast.server.http;

import static dev.holdfast.server.http.Bench.BEAT;
import static dev.holdfast.server.http.Bench.task;
import static dev.holdfast.server.http.Bench.token;

import dev.holdfast.model.job.JobId;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;

/** Invalid paths, parameters, methods and headers. */
final class BadRequests extends BadCases {
  private BadRequests(Bench bench) {
    super(bench);
  }

  static List<BadCase> all(Bench bench) {
    BadRequests requests = new BadRequests(bench);
    requests.paths();
    requests.parameters();
    requests.headers();
    requests.artifacts();
    requests.steps();
    return requests.cases;
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
    get("/v1/jobs?brief=yes", 422, "invalid_value");
    get("/v1/jobs?brief=TRUE", 422, "invalid_value");
    get("/v1/jobs?brief=", 422, "invalid_value");
    get("/v1/jobs?q=%00", 422, "invalid_value");
    get("/v1/jobs?q=" + "x".repeat(201), 422, "invalid_value");
    get("/v1/jobs?stat=FAILED", 422, "unknown_parameter");
    get("/v1/jobs?queue=%00", 422, "bad_name");
    get("/v1/jobs?kind=a%20b", 422, "bad_name");
    get("/v1/jobs?tenant=%00", 422, "bad_name");
    get("/v1/workers/%00/exits", 422, "bad_name");
    get("/v1/workers/w/exits?supervisor=a%00b", 422, "bad_name");
    get("/v1/workers/%00/log?supervisor=s", 422, "bad_name");
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
        "an unknown method",
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
        "a request from a page of another origin",
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
            "a%C2%9B2J",
            "invoice%E2%80%AEfdp.exe",
            "a%E2%80%8Bb",
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
}
