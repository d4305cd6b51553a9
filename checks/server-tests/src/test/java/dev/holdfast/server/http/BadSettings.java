package dev.holdfast.server.http;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** Bulk requests, dispatches and settings of queues that cannot be accepted. */
final class BadSettings extends BadCases {
  private BadSettings(Bench bench) {
    super(bench);
  }

  static List<BadCase> all(Bench bench) {
    BadSettings requests = new BadSettings(bench);
    requests.bulk();
    requests.dispatches();
    requests.settings();
    return requests.cases;
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
        "bad_reason",
        "{\"ids\":[\"" + b.pending + "\"],\"reason\":\"" + "r".repeat(1_001) + "\"}");
    bulk(
        "a reason with NUL",
        422,
        "bad_reason",
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
    send("PUT", path, name, error, body);
  }

  private void send(String method, String path, String name, String error, String body) {
    add(
        method + " " + path + " " + name,
        422,
        error,
        () -> b.send(method, path, body.getBytes(StandardCharsets.UTF_8), b.admin));
  }

  private void limits(String name, String error, String body) {
    send("PATCH", "/v1/queues/pending/limits", name, error, body);
  }

  private void settings() {
    limits("none at once", "bad_limit", "{\"maxRunning\":0}");
    limits("half a job", "invalid_value", "{\"maxRunning\":0.5}");
    limits("nothing to change", "invalid_value", "{}");
    limits("no rate", "bad_limit", "{\"rateLimit\":{\"starts\":0,\"periodMs\":1}}");
    limits(
        "a rate over ages",
        "bad_limit",
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
