package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JacksonCodec;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.steps.FailedAttempt;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.Step;
import dev.holdfast.worker.steps.Strategy;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryContextTest {
  private static final Codec CODEC = new JacksonCodec();

  private static final String ENDLESS = "x".repeat(100_000);
  private static final Scrubber SCRUBBER = Scrubber.knowing(List.of("correct-horse-battery"));

  private static String text(
      String written, String said, List<String> files, Step.Operators operators) {
    WorkspaceJob.Task task = new WorkspaceJob.Task("build", written, written, "agent");
    WorkspaceJob job =
        new WorkspaceJob(
            written, new WorkspaceJob.Source("/repo", null), List.of(task), List.of(written), null);
    Step.Failed last =
        new Step.Failed(
            new FailedAttempt(2, FailureClass.TRANSIENT_RUNTIME, said, "ab12"),
            said,
            files,
            Strategy.SOFT_RESET);
    return CODEC
        .encode(
            RetryContext.of(
                job, task, 1, new Step.Retry(3, last, operators), Map.of(), SCRUBBER::scrub))
        .text();
  }

  private static String text(String written, String said) {
    Step.Operators ada = new Step.Operators(requests(1, written), List.of("a.c"));
    return text(written, said, List.of(said), ada);
  }

  private static List<Step.Request> requests(int count, String reason) {
    return Collections.nCopies(count, new Step.Request(CommandAction.RETRY_STEP, "ada", reason));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Object node) {
    return (Map<String, Object>) node;
  }

  private static Map<String, Object> read(String json) {
    return map(CODEC.decode(new Json(json), Map.class));
  }

  @Test
  void contains_the_instructions_and_the_failure() {
    assertThat(text("make it better", "exited with 1"))
        .contains(
            "\"objective\":\"make it better\"",
            "\"constraints\":[\"make it better\"]",
            "\"attempt\":3",
            "\"failureClass\":\"transient_runtime\"",
            "\"failureSignature\":\"exited with 1\"",
            "\"summary\":\"exited with 1\"",
            "\"strategy\":\"soft_reset\"",
            "\"action\":\"retry_step\"",
            "\"requestedBy\":\"ada\"",
            "\"reason\":\"make it better\"",
            "\"changedFiles\":[\"exited with 1\"]",
            "\"diffHash\":\"ab12\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "set password=\"hunter2\" in {\"token\": \"abcdefgh12345678\"}",
        "password=\\",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n",
        "curl -u admin:hunter2 https://example.com/ and correct-horse-battery",
        "Authorization: Digest ",
        "\u001b[31mred\u001b[0m \b \r \0 \t \u2028 😀 \ud83d"
      })
  void operator_texts_are_unchanged(String written) {
    Map<String, Object> read = read(text(written, "boom"));
    assertThat(read).containsEntry("objective", written);
    assertThat(read).containsEntry("constraints", List.of(written));
    assertThat(map(read.get("step")))
        .containsEntry("title", written)
        .containsEntry("instructions", written);
    assertThat(map(read.get("operator")).get("requests"))
        .isEqualTo(
            List.of(Map.of("action", "retry_step", "requestedBy", "ada", "reason", written)));
    assertThat(map(read.get("failure"))).containsEntry("summary", "boom");
  }

  @Test
  void long_instructions_are_not_cut() {
    assertThat(map(read(text(ENDLESS, "boom")).get("step"))).containsEntry("instructions", ENDLESS);
  }

  @Test
  void output_of_an_attempt_is_scrubbed_and_cannot_break_the_format() {
    String said = "log in: password=\"hunter2 and correct-horse-battery";
    String json = text("make it", said);
    assertThat(json).doesNotContain("hunter2").doesNotContain("horse");
    Map<String, Object> read = read(json);
    String scrubbed = "log in: password=\"***";
    assertThat(map(read.get("failure")))
        .containsEntry("summary", scrubbed)
        .containsEntry("failureSignature", scrubbed)
        .containsEntry("strategy", "soft_reset");
    assertThat(read).containsEntry("changedFiles", List.of(scrubbed)).containsEntry("attempt", 3);
  }

  @Test
  void is_bounded_whatever_the_program_prints() {
    List<String> many = Collections.nCopies(1_000, ENDLESS);
    Step.Operators busy = new Step.Operators(requests(1_000, "y".repeat(1_000)), many);
    assertThat(text("x", "boom", many, busy).length()).isLessThan(220_000);
  }
}
