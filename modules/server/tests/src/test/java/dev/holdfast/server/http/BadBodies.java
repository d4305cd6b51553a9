package dev.holdfast.server.http;

import static dev.holdfast.server.http.Bench.task;
import static dev.holdfast.server.http.Bench.token;

import dev.holdfast.server.Client;
import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** The right caller, and a body that cannot be. */
public final class BadBodies {
  private final Bench b;
  private final List<BadCase> cases = new ArrayList<>();

  private BadBodies(Bench bench) {
    this.b = bench;
  }

  public static List<BadCase> all(Bench bench) {
    BadBodies bodies = new BadBodies(bench);
    bodies.unreadable();
    bodies.heartbeats();
    bodies.completions();
    bodies.leases();
    bodies.jobs();
    bodies.steps();
    bodies.controls();
    return bodies.cases;
  }

  private void add(String name, int status, String error, Supplier<Client.Reply> request) {
    cases.add(BadCase.of(name, status, error, request));
  }

  private void beat(String name, int status, String error, String body) {
    add("heartbeat: " + name, status, error, () -> b.beat(body));
  }

  /** A good heartbeat with something more. */
  private void field(String name, String error, String field) {
    beat(name, 422, error, "{\"attempt\":1,\"workerId\":\"w1\"," + field + "}");
  }

  private void done(String name, int status, String error, String fields) {
    add(
        "completed: " + name,
        status,
        error,
        () -> b.done("{\"attempt\":1,\"workerId\":\"w1\"," + fields + "}"));
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

  private void heartbeats() {
    beat("null", 422, "invalid_value", "null");
    beat("a list", 422, "invalid_value", "[]");
    beat("a text", 422, "invalid_value", "\"attempt\"");
    beat("no attempt", 422, "invalid_value", "{\"workerId\":\"w1\"}");
    beat("no worker", 422, "missing_field", "{\"attempt\":1}");
    beat("a text for a number", 422, "invalid_value", "{\"attempt\":\"1\",\"workerId\":\"w1\"}");
    beat("a fraction", 422, "invalid_value", "{\"attempt\":1.5,\"workerId\":\"w1\"}");
    beat("truth for a number", 422, "invalid_value", "{\"attempt\":true,\"workerId\":\"w1\"}");
    beat("attempt 0", 422, "invalid_value", "{\"attempt\":0,\"workerId\":\"w1\"}");
    beat("a negative attempt", 422, "invalid_value", "{\"attempt\":-1,\"workerId\":\"w1\"}");
    beat(
        "an attempt over 32 bits",
        422,
        "invalid_value",
        "{\"attempt\":4294967297,\"workerId\":\"w1\"}");
    beat(
        "an attempt over 64 bits",
        422,
        "invalid_value",
        "{\"attempt\":18446744073709551617,\"workerId\":\"w1\"}");
    beat("an exponent", 422, "invalid_value", "{\"attempt\":1e999999999,\"workerId\":\"w1\"}");
    beat("a number for a worker", 422, "invalid_value", "{\"attempt\":1,\"workerId\":7}");
    beat("an empty worker", 422, "invalid_value", "{\"attempt\":1,\"workerId\":\"\"}");
    beat(
        "a worker of 256 characters",
        422,
        "invalid_value",
        "{\"attempt\":1,\"workerId\":\"" + "w".repeat(256) + "\"}");
    field("progress 101", "invalid_value", "\"progressPct\":101");
    field("progress -1", "invalid_value", "\"progressPct\":-1");
    field("progress as text", "invalid_value", "\"progressPct\":\"45\"");
    field(
        "a message of 5000 characters",
        "invalid_value",
        "\"message\":\"" + "m".repeat(5_000) + "\"");
    field("a message with NUL", "invalid_value", "\"message\":\"a\\u0000b\"");
    field("half of a surrogate pair", "invalid_value", "\"message\":\"\\ud83d\"");
    field("February 30th", "invalid_value", "\"heartbeatAt\":\"2025-02-30T10:00:00Z\"");
    field("a date without an offset", "invalid_value", "\"heartbeatAt\":\"2025-01-15T10:00:00\"");
    field("a date before 1970", "invalid_value", "\"heartbeatAt\":\"1915-01-15T10:00:00Z\"");
    field(
        "a date of year 999999999",
        "invalid_value",
        "\"heartbeatAt\":\"+999999999-01-15T10:00:00Z\"");
    field("a date as a number", "invalid_value", "\"heartbeatAt\":1736935500");
  }

  private void completions() {
    done("no outcome", 422, "missing_field", "\"output\":1");
    done("an unknown outcome", 422, "invalid_value", "\"outcome\":\"DONE\"");
    done("an outcome by number", 422, "invalid_value", "\"outcome\":0");
    done("FAILED without an error", 422, "missing_field", "\"outcome\":\"FAILED\"");
    done(
        "an error with SUCCEEDED",
        422,
        "invalid_value",
        "\"outcome\":\"SUCCEEDED\",\"error\":{\"category\":\"TIMEOUT\",\"message\":\"m\"}");
    done(
        "an output with CANCELLED", 422, "invalid_value", "\"outcome\":\"CANCELLED\",\"output\":1");
    failed("an unknown category", "invalid_value", "\"category\":\"BAD_LUCK\",\"message\":\"m\"");
    failed("no message", "missing_field", "\"category\":\"TIMEOUT\"");
    failed(
        "a message of half a pair",
        "invalid_value",
        "\"category\":\"TIMEOUT\",\"message\":\"\\udfff\"");
    failed(
        "a code of signs",
        "bad_name",
        "\"category\":\"TIMEOUT\",\"message\":\"m\",\"code\":\"<script>\"");
    failed(
        "a negative wait",
        "invalid_value",
        "\"category\":\"TIMEOUT\",\"message\":\"m\",\"retryAfterMs\":-1");
    failed(
        "a wait of ages",
        "bad_delay",
        "\"category\":\"TIMEOUT\",\"message\":\"m\",\"retryAfterMs\":9223372036854775807");
    done(
        "an output over 1 MiB",
        413,
        "result_too_large",
        "\"outcome\":\"SUCCEEDED\",\"output\":\"" + "x".repeat((1 << 20) + 1) + "\"");
    done(
        "a body over the limit",
        413,
        "body_too_large",
        "\"outcome\":\"SUCCEEDED\",\"output\":\"" + "x".repeat(4 << 20) + "\"");
    done(
        "an output with NUL",
        422,
        "result_not_json",
        "\"outcome\":\"SUCCEEDED\",\"output\":\"a\\u0000b\"");
    done(
        "an output with half a pair",
        422,
        "result_not_json",
        "\"outcome\":\"SUCCEEDED\",\"output\":\"\\udc00\"");
    done(
        "metrics with half a pair",
        422,
        "invalid_value",
        "\"outcome\":\"SUCCEEDED\",\"metrics\":[\"\\ud800\"]");
    done(
        "metrics with NUL",
        422,
        "result_not_json",
        "\"outcome\":\"SUCCEEDED\",\"metrics\":{\"a\":\"\\u0000\"}");
    done(
        "metrics over 64 KiB",
        422,
        "invalid_value",
        "\"outcome\":\"SUCCEEDED\",\"metrics\":\"" + "x".repeat(66_000) + "\"");
    done(
        "an output nested too deep",
        413,
        "json_too_large",
        "\"outcome\":\"SUCCEEDED\",\"output\":" + "[".repeat(400) + "]".repeat(400));
  }

  private void failed(String name, String error, String fields) {
    done(name, 422, error, "\"outcome\":\"FAILED\",\"error\":{" + fields + "}");
  }

  private void leases() {
    String lease = "/v1/queues/pending/lease";
    add(
        "lease: room for 101",
        422,
        "invalid_value",
        () -> b.post(lease, "{\"workerId\":\"w\",\"max\":101}", b.admin));
    add(
        "lease: room for none",
        422,
        "invalid_value",
        () -> b.post(lease, "{\"workerId\":\"w\",\"max\":0}", b.admin));
    add(
        "lease: a wait of 61 s",
        422,
        "invalid_value",
        () -> b.post(lease, "{\"workerId\":\"w\",\"waitMs\":61000}", b.admin));
    add(
        "lease: a negative wait",
        422,
        "invalid_value",
        () -> b.post(lease, "{\"workerId\":\"w\",\"waitMs\":-1}", b.admin));
    add(
        "lease: a queue of signs",
        422,
        "bad_name",
        () -> b.post("/v1/queues/a%3Bb/lease", "{\"workerId\":\"w\"}", b.admin));
    add(
        "lease: a queue of 49 characters",
        422,
        "bad_name",
        () -> b.post("/v1/queues/" + "q".repeat(49) + "/lease", "{\"workerId\":\"w\"}", b.admin));
  }

  /** A step that has begun, and something more or else. */
  private void step(String name, int status, String error, String fields) {
    add(
        "step: " + name,
        status,
        error,
        () ->
            b.step(
                task(b.running, "steps/build"),
                "{\"attempt\":1,\"stepAttempt\":1," + fields + "}",
                token(b.running)));
  }

  private void steps() {
    String done = "\"stepIndex\":1,\"state\":\"DONE\",";
    String failed = "\"stepIndex\":1,\"state\":\"FAILED\",";
    String running = "\"stepIndex\":1,\"state\":\"RUNNING\",";
    step("no state", 422, "missing_field", "\"stepIndex\":1");
    step("no index", 422, "invalid_value", "\"state\":\"RUNNING\"");
    step("index 1001", 422, "invalid_value", "\"stepIndex\":1001,\"state\":\"RUNNING\"");
    step("an unknown state", 422, "invalid_value", "\"stepIndex\":1,\"state\":\"LOST\"");
    step("interrupted", 422, "invalid_value", "\"stepIndex\":1,\"state\":\"INTERRUPTED\"");
    step("a result before the end", 422, "invalid_value", running + "\"result\":1");
    step("a result of a failure", 422, "invalid_value", failed + "\"result\":1");
    step(
        "a failure of a success",
        422,
        "invalid_value",
        done + "\"failureClass\":\"transient_runtime\"");
    step("an unknown class", 422, "invalid_value", failed + "\"failureClass\":\"bad_luck\"");
    step("an unknown strategy", 422, "invalid_value", failed + "\"strategy\":\"hope\"");
    step("a hash that is none", 422, "invalid_value", done + "\"diffHash\":\"xyz\"");
    step("a summary with NUL", 422, "invalid_value", done + "\"summary\":\"\\u0000\"");
    step(
        "a signature of 1001 characters",
        422,
        "invalid_value",
        failed + "\"failureSignature\":\"" + "s".repeat(1_001) + "\"");
    step(
        "honoured at the end",
        422,
        "invalid_value",
        done + "\"honoured\":\"2025-01-15T10:00:00Z\"");
    step("honoured tomorrow", 422, "invalid_value", running + "\"honoured\":\"tomorrow\"");
    step(
        "a result over 1 MiB",
        413,
        "result_too_large",
        done + "\"result\":\"" + "x".repeat((1 << 20) + 1) + "\"");
    step("a result with NUL", 422, "result_not_json", done + "\"result\":\"a\\u0000b\"");
    step("a result with half a pair", 422, "result_not_json", done + "\"result\":\"\\udc00\"");
    add(
        "step: an attempt of the future",
        403,
        "token_scope",
        () ->
            b.step(
                task(b.running, "steps/build"),
                Bench.STEP.replace("\"attempt\":1", "\"attempt\":2"),
                token(b.running)));
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
        "a reason with NUL", 422, "invalid_value", "{\"action\":\"pause\",\"reason\":\"\\u0000\"}");
    control(
        "a reason of 1001 characters",
        422,
        "invalid_value",
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
        "\"kind\":\"k\",\"payload\":[" + "1e131071,".repeat(8) + "1]");
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
