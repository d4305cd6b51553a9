package dev.holdfast.contract.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.contract.json.WireException.Kind;
import dev.holdfast.contract.request.JobRequest;
import dev.holdfast.contract.task.TaskCompleted;
import dev.holdfast.contract.task.TaskEnvelope;
import dev.holdfast.contract.task.TaskHeartbeat;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WireTest {
  private static <T> T read(String json, Class<T> type) {
    return Wire.read(json.getBytes(StandardCharsets.UTF_8), type);
  }

  private static WireException refused(String json) {
    return catchThrowableOfType(WireException.class, () -> read(json, TaskHeartbeat.class));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"c0af", "e080af", "eda080", "eda0bdedb880", "f4908080", "ff", "c3", "80", "c0a2"})
  void bytes_that_are_no_utf_8_are_refused(String hex) {
    byte[] head =
        "{\"attempt\":1,\"workerId\":\"w\",\"message\":\"".getBytes(StandardCharsets.UTF_8);
    byte[] wrong = HexFormat.of().parseHex(hex);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.writeBytes(head);
    body.writeBytes(wrong);
    body.writeBytes("\"}".getBytes(StandardCharsets.UTF_8));
    WireException refused =
        catchThrowableOfType(
            WireException.class, () -> Wire.read(body.toByteArray(), TaskHeartbeat.class));
    assertThat(refused.kind()).isEqualTo(Kind.MALFORMED);
    assertThatThrownBy(() -> Wire.tree(body.toByteArray())).isInstanceOf(WireException.class);
    assertThatThrownBy(() -> Wire.hasField(body.toByteArray(), "attempt"))
        .isInstanceOf(WireException.class);
  }

  @Test
  void fields_are_read_by_their_name_in_camel_case_and_in_snake_case() {
    TaskHeartbeat camel =
        read(
            "{'attempt':1,'workerId':'w','progressPct':45,'heartbeatAt':'2025-01-15T10:05:00Z'}"
                .replace('\'', '"'),
            TaskHeartbeat.class);
    TaskHeartbeat snake =
        read(
            "{'attempt':1,'worker_id':'w','progress_pct':45,'heartbeat_at':'2025-01-15T10:05:00Z'}"
                .replace('\'', '"'),
            TaskHeartbeat.class);
    assertThat(snake).isEqualTo(camel);
    assertThat(camel.heartbeatAt()).isEqualTo(Instant.parse("2025-01-15T10:05:00Z"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"10", "10.0", "1e1", "1000e-2"})
  void a_whole_number_may_have_a_point_or_an_exponent(String ten) {
    String body = "{\"attempt\":%s,\"workerId\":\"w\",\"progressPct\":%s}".formatted(ten, ten);
    TaskHeartbeat heartbeat = read(body, TaskHeartbeat.class);
    assertThat(heartbeat.attempt()).isEqualTo(10);
    assertThat(heartbeat.progressPct()).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"attempt\":1,\"workerId\":\"w\",\"worker_id\":\"w\"}",
        "{\"attempt\":1,\"worker_id\":\"a\",\"workerId\":\"b\"}",
        "{\"attempt\":1,\"workerId\":\"w\",\"workerId\":\"w\"}"
      })
  void a_field_in_two_spellings_is_a_field_twice(String json) {
    assertThat(refused(json).kind()).isEqualTo(WireException.Kind.MALFORMED);
    assertThat(refused(json)).hasMessageContaining("names a field twice");
  }

  @Test
  void a_payload_may_have_names_that_are_two_spellings_of_one() {
    String payload = "{\"maxAttempts\":1,\"max_attempts\":2}";
    JobRequest request =
        read("{\"kind\":\"k\",\"payload\":" + payload + ",\"maxAttempts\":3}", JobRequest.class);
    assertThat(request.payload()).isEqualTo(new Json(payload));
    assertThatThrownBy(
            () ->
                read(
                    "{\"kind\":\"k\",\"maxAttempts\":3,\"payload\":"
                        + payload
                        + ",\"max_attempts\":3}",
                    JobRequest.class))
        .hasMessageContaining("names a field twice");
  }

  @Test
  void values_round_trip() {
    TaskCompleted completed =
        read(
            """
            {"attempt":2,"workerId":"w","outcome":"FAILED",
             "error":{"category":"TIMEOUT","message":"slow","retryable":false,"retryAfterMs":10}}""",
            TaskCompleted.class);
    assertThat(Wire.read(Wire.write(completed), TaskCompleted.class)).isEqualTo(completed);
    assertThat(Wire.text(completed)).doesNotContain("null");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{", "nonsense", "{\"attempt\":1,\"workerId\":\"w\"}}",
            "{\"attempt\":1,\"workerId\":\"w\"} x", "{'attempt':1}",
        "{\"attempt\":01}", "{\"attempt\":NaN}", "{\"a\":1,\"a\":2}", "\u0000", "{\"attempt\":1,}"
      })
  void a_body_that_is_not_json_is_malformed(String body) {
    assertThat(refused(body).kind()).isEqualTo(Kind.MALFORMED);
  }

  @Test
  void a_syntax_error_has_its_position_and_a_duplicate_field_is_named() {
    assertThat(refused("{\"attempt\":1,\n  nonsense}"))
        .hasMessage("the body is not JSON: line 2, column 3");
    assertThat(refused("{\"attempt\":1,\"attempt\":2}"))
        .hasMessageStartingWith("the body names a field twice: line 1, column ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "",
        "[]",
        "7",
        "\"text\"",
        "{\"attempt\":\"1\",\"workerId\":\"w\"}",
        "{\"attempt\":1.5,\"workerId\":\"w\"}",
        "{\"attempt\":1e19,\"workerId\":\"w\"}",
        "{\"attempt\":true,\"workerId\":\"w\"}",
        "{\"attempt\":null,\"workerId\":\"w\"}",
        "{\"attempt\":99999999999,\"workerId\":\"w\"}",
        "{\"attempt\":-1,\"workerId\":\"w\"}",
        "{\"attempt\":1,\"workerId\":7}",
        "{\"attempt\":1,\"workerId\":{}}",
        "{\"attempt\":1,\"workerId\":\"\"}",
        "{\"attempt\":1,\"workerId\":\"w\",\"progressPct\":101}",
        "{\"attempt\":1,\"workerId\":\"w\",\"progressPct\":\"45\"}",
        "{\"attempt\":1,\"workerId\":\"w\",\"heartbeatAt\":1736935500}",
        "{\"attempt\":1,\"workerId\":\"w\",\"heartbeatAt\":\"2025-02-30T10:00:00Z\"}",
        "{\"attempt\":1,\"workerId\":\"w\",\"heartbeatAt\":\"2025-01-15T10:00:00\"}",
        "{\"attempt\":1,\"workerId\":\"w\",\"heartbeatAt\":\"-0001-01-15T10:00:00Z\"}"
      })
  void values_of_the_wrong_type_are_not_converted(String body) {
    assertThat(refused(body).kind()).isEqualTo(Kind.WRONG_VALUE);
  }

  @Test
  void an_unknown_field_is_refused_with_the_names_that_are_known() {
    WireException refused =
        refused(
            """
            {"attempt":1,"workerId":"w","progess":4}""");
    assertThat(refused.kind()).isEqualTo(Kind.UNKNOWN_FIELD);
    assertThat(refused)
        .hasMessageContaining("'progess'")
        .hasMessageContaining("progressPct")
        .hasMessageNotContaining("progress_pct");
  }

  @Test
  void a_missing_field_is_named() {
    assertThat(refused("{\"attempt\":1}"))
        .hasMessage("field 'workerId' is missing")
        .extracting(WireException::kind)
        .isEqualTo(Kind.MISSING_FIELD);
  }

  @Test
  void a_body_too_deep_or_too_long_is_too_large() {
    String deep = "{\"a\":".repeat(300) + "1" + "}".repeat(300);
    assertThat(refused("{\"attempt\":1,\"workerId\":\"w\",\"message\":" + deep + "}").kind())
        .isIn(Kind.TOO_LARGE, Kind.WRONG_VALUE);
    assertThat(
            catchThrowableOfType(
                    WireException.class,
                    () ->
                        read(
                            """
                            {"attempt":1,"workerId":"w","outcome":"SUCCEEDED","output":%s}"""
                                .formatted(deep),
                            TaskCompleted.class))
                .kind())
        .isEqualTo(Kind.TOO_LARGE);
    assertThat(refused("{\"attempt\":" + "9".repeat(500) + "}").kind()).isEqualTo(Kind.TOO_LARGE);
    assertThat(refused("{\"" + "n".repeat(2_000) + "\":1}").kind()).isEqualTo(Kind.TOO_LARGE);
  }

  @ParameterizedTest
  @CsvSource({"1e400", "-1e999999999", "123456789012345678901234567890.5"})
  void a_number_outside_the_range_of_double_is_not_expanded(String number) {
    TaskCompleted completed =
        read(
            """
            {"attempt":1,"workerId":"w","outcome":"SUCCEEDED","output":[%s]}"""
                .formatted(number),
            TaskCompleted.class);
    String text = String.valueOf(completed.output());
    assertThat(text.length()).isLessThan(200);
  }

  @Test
  void error_messages_do_not_reveal_java_classes() {
    for (String body :
        new String[] {
          "{\"attempt\":\"x\",\"workerId\":\"w\"}",
          "{\"attempt\":1,\"workerId\":[]}",
          "{\"attempt\":1,\"workerId\":\"w\",\"nope\":1}",
          "[]",
          "{",
          "{\"attempt\":1,\"workerId\":\"w\",\"heartbeatAt\":\"tomorrow\"}"
        }) {
      assertThat(refused(body).getMessage())
          .doesNotContain("dev.holdfast", "java.", "com.fasterxml", "TaskHeartbeat", "Exception")
          .doesNotContain("line:", "column:");
    }
  }

  @Test
  void an_id_in_any_but_the_canonical_form_is_refused() {
    assertThatThrownBy(() -> read("{\"taskId\":\"1-1-1-1-1\"}", TaskEnvelope.class))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void a_secret_does_not_show_in_the_text_of_a_record() {
    TaskTokens.Signed signed = new TaskTokens.Signed("eyJhbGciOiJIUzI1NiJ9.e30.x", Instant.EPOCH);
    assertThat(signed.toString()).doesNotContain("eyJ");
  }
}
