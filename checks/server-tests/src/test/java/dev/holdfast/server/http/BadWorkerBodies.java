package dev.holdfast.server.http;

import static dev.holdfast.server.http.Bench.task;
import static dev.holdfast.server.http.Bench.token;

import java.util.List;

/** Bodies of heartbeats, completions, leases and steps that cannot be accepted. */
final class BadWorkerBodies extends BadCases {
  private BadWorkerBodies(Bench bench) {
    super(bench);
  }

  static List<BadCase> all(Bench bench) {
    BadWorkerBodies bodies = new BadWorkerBodies(bench);
    bodies.heartbeats();
    bodies.completions();
    bodies.leases();
    bodies.steps();
    return bodies.cases;
  }

  private void beat(String name, int status, String error, String body) {
    add("heartbeat: " + name, status, error, () -> b.beat(body));
  }

  /** A valid heartbeat with additional fields. */
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

  /** A started step, with additional or changed fields. */
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
        "a handled command at the end",
        422,
        "invalid_value",
        done + "\"handledCommand\":\"2025-01-15T10:00:00Z\"");
    step(
        "a command handled tomorrow",
        422,
        "invalid_value",
        running + "\"handledCommand\":\"tomorrow\"");
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
}
