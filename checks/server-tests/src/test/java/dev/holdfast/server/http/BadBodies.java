package dev.holdfast.server.http;

import static dev.holdfast.server.http.Bench.task;
import static dev.holdfast.server.http.Bench.token;

import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Requests with valid credentials and an invalid body. */
final class BadBodies extends BadCases {
  private BadBodies(Bench bench) {
    super(bench);
  }

  static List<BadCase> all(Bench bench) {
    BadBodies bodies = new BadBodies(bench);
    bodies.unreadable();
    bodies.jobs();
    bodies.controls();
    return bodies.cases;
  }

  private void beat(String name, int status, String error, String body) {
    add("heartbeat: " + name, status, error, () -> b.beat(body));
  }

  private void job(String name, int status, String error, String fields) {
    add("job: " + name, status, error, () -> b.post("/v1/jobs", "{" + fields + "}", b.admin));
  }

  private void unreadable() {
    String large = "{\"attempt\":1,\"workerId\":\"w1\",\"message\":\"" + "x".repeat(70_000) + "\"}";
    beat("empty", 400, "body_missing", "");
    beat("half", 400, "malformed_json", "{\"attempt\":1,\"workerId\":\"w");
    beat("not JSON", 400, "malformed_json", "attempt=1&workerId=w1");
    beat("JSON and more", 422, "invalid_value", Bench.BEAT + " []");
    beat("JSON and a brace", 400, "malformed_json", Bench.BEAT + "}");
    beat(
        "a field twice", 400, "malformed_json", "{\"attempt\":1,\"attempt\":1,\"workerId\":\"w\"}");
    beat("a comment", 400, "malformed_json", "{\"attempt\":1,/* */\"workerId\":\"w1\"}");
    beat("NaN", 400, "malformed_json", "{\"attempt\":NaN,\"workerId\":\"w1\"}");
    beat("over the limit, announced", 413, "body_too_large", large);
    add(
        "heartbeat: over the limit, in chunks",
        413,
        "body_too_large",
        () ->
            b.send(
                task(b.running, "heartbeat"),
                token(b.running),
                request ->
                    request
                        .header("Content-Type", Answer.JSON)
                        .POST(
                            BodyPublishers.ofInputStream(
                                () ->
                                    new ByteArrayInputStream(
                                        large.getBytes(StandardCharsets.UTF_8))))));
    add(
        "heartbeat: bytes that are no text",
        400,
        "malformed_json",
        () ->
            b.send(
                "POST",
                task(b.running, "heartbeat"),
                new byte[] {'{', '"', (byte) 0xC3, (byte) 0x28, '"', ':', '1', '}'},
                token(b.running)));
    beat(
        "nested too deep",
        413,
        "json_too_large",
        "{\"attempt\":1,\"workerId\":\"w1\",\"x\":" + "[".repeat(5_000) + "]".repeat(5_000) + "}");
    beat("a number of 500 digits", 413, "json_too_large", "{\"attempt\":" + "9".repeat(500) + "}");
    beat("a name of 2000 characters", 413, "json_too_large", "{\"" + "n".repeat(2_000) + "\":1}");
  }

  private void control(String name, int status, String error, String body) {
    add(
        "control: " + name,
        status,
        error,
        () -> b.post("/v1/jobs/" + b.pending + "/control", body, b.operator));
  }

  private void controls() {
    control("no body", 400, "body_missing", "");
    control("no action", 422, "missing_field", "{\"reason\":\"r\"}");
    control("an unknown action", 422, "bad_name", "{\"action\":\"explode\"}");
    control("an action by number", 422, "invalid_value", "{\"action\":0}");
    control("a step missing", 422, "bad_name", "{\"action\":\"retry_step\"}");
    control("a step too many", 422, "bad_name", "{\"action\":\"pause\",\"stepId\":\"s\"}");
    control("a step of signs", 422, "bad_name", "{\"action\":\"retry_step\",\"stepId\":\"../s\"}");
    control(
        "an unknown step",
        404,
        "no_such_step",
        "{\"action\":\"retry_step\",\"stepId\":\"nonsense\"}");
    control("a takeover of nothing", 409, "job_not_running", "{\"action\":\"takeover\"}");
    control("an unknown field", 422, "unknown_field", "{\"action\":\"pause\",\"by\":\"me\"}");
    control(
        "a reason with NUL", 422, "bad_reason", "{\"action\":\"pause\",\"reason\":\"\\u0000\"}");
    control(
        "a reason of 1001 characters",
        422,
        "bad_reason",
        "{\"action\":\"pause\",\"reason\":\"" + "r".repeat(1_001) + "\"}");
  }

  private void jobs() {
    job("no kind", 422, "missing_field", "\"queue\":\"mail\"");
    job("a kind of signs", 422, "bad_name", "\"kind\":\"a b\"");
    job("an empty kind", 422, "bad_name", "\"kind\":\"\"");
    job("a queue of signs", 422, "bad_name", "\"kind\":\"k\",\"queue\":\"../x\"");
    job("a tenant of signs", 422, "bad_name", "\"kind\":\"k\",\"tenant\":\"*\"");
    job("priority 10", 422, "bad_priority", "\"kind\":\"k\",\"priority\":10");
    job("a negative delay", 422, "bad_delay", "\"kind\":\"k\",\"delayMs\":-1");
    job("a delay of ages", 422, "bad_delay", "\"kind\":\"k\",\"delayMs\":9223372036854775807");
    job("no attempts", 422, "bad_budget", "\"kind\":\"k\",\"maxAttempts\":0");
    job("no time", 422, "bad_timing", "\"kind\":\"k\",\"timeoutMs\":0");
    job("an id that is none", 400, "bad_id", "\"kind\":\"k\",\"id\":\"1-1-1-1-1\"");
    job("an id that is a number", 422, "invalid_value", "\"kind\":\"k\",\"id\":7");
    job(
        "an unknown state",
        422,
        "invalid_value",
        "\"kind\":\"k\",\"uniqueKey\":\"u\",\"uniqueStates\":[\"DEAD\"]");
    job(
        "a unique key that never counts",
        422,
        "bad_unique",
        "\"kind\":\"k\",\"uniqueKey\":\"u\",\"uniqueStates\":[\"RUNNING\"]");
    job("a unique key with NUL", 422, "bad_key", "\"kind\":\"k\",\"uniqueKey\":\"a\\u0000b\"");
    job(
        "a wait for a job there is not",
        422,
        "bad_dependency",
        "\"kind\":\"k\",\"dependsOn\":[\"01890000-0000-7000-8000-000000000000\"]");
    job(
        "null among those to wait for",
        422,
        "invalid_value",
        "\"kind\":\"k\",\"dependsOn\":[null]");
    job("null among the jobs", 422, "invalid_value", "\"jobs\":[null]");
    job(
        "a concurrency limit of 0",
        422,
        "bad_limit",
        "\"kind\":\"k\",\"concurrencyKey\":\"c\",\"concurrencyLimit\":0");
    job(
        "a payload over 1 MiB",
        413,
        "payload_too_large",
        "\"kind\":\"k\",\"payload\":\"" + "x".repeat((1 << 20) + 1) + "\"");
    job(
        "numbers that are over 1 MiB once written out",
        413,
        "payload_too_large",
        "\"kind\":\"k\",\"payload\":[" + "1e-16383,".repeat(70) + "1]");
    job(
        "a number that no double holds",
        413,
        "payload_too_large",
        "\"kind\":\"k\",\"payload\":1e999");
    job("a payload with NUL", 422, "payload_not_json", "\"kind\":\"k\",\"payload\":\"\\u0000\"");
    job(
        "a payload with half a pair",
        422,
        "payload_not_json",
        "\"kind\":\"k\",\"payload\":\"\\ud800\"");
    job(
        "a date of the year 0",
        422,
        "invalid_value",
        "\"kind\":\"k\",\"runAt\":\"0000-01-01T00:00:00Z\"");
    job("an unknown field", 422, "unknown_field", "\"kind\":\"k\",\"prio\":1");
    job("no jobs", 422, "invalid_value", "\"jobs\":[]");
    job("jobs that are none", 422, "invalid_value", "\"jobs\":7");
    job("jobs and a kind", 422, "unknown_field", "\"jobs\":[{\"kind\":\"k\"}],\"kind\":\"k\"");
    job(
        "10,001 jobs",
        413,
        "too_many_jobs",
        "\"jobs\":[" + "{\"kind\":\"k\"},".repeat(10_000) + "{\"kind\":\"k\"}]");
    job(
        "one bad job among good ones",
        422,
        "bad_priority",
        "\"jobs\":[{\"kind\":\"k\"},{\"kind\":\"k\",\"priority\":99}]");
  }
}
