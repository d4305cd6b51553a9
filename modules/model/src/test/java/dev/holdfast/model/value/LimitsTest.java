package dev.holdfast.model.value;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
  @ParameterizedTest
  @ValueSource(strings = {"mail", "Mail-2.high_prio", "0"})
  void a_valid_queue_name_is_accepted(String name) {
    assertThat(Limits.queue(name)).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "-x", ".x", "a b", "a:b", "a\"b", "a/b", "ä", "a\n", "a\0"})
  void an_invalid_queue_name_is_refused(String name) {
    assertRefused(Refusal.BAD_NAME, () -> Limits.queue(name));
  }

  @Test
  void a_queue_name_fits_into_a_notification_channel() {
    assertThat(Limits.queue("q".repeat(48))).hasSize(48);
    assertRefused(Refusal.BAD_NAME, () -> Limits.queue("q".repeat(49)))
        .hasMessageContaining("1 to 48 characters");
  }

  @Test
  void kinds_and_words_may_contain_colons_and_slashes() {
    assertThat(Limits.kind("mail/send:v2")).isEqualTo("mail/send:v2");
    assertThat(Limits.word("event type", "source:ready")).isEqualTo("source:ready");
    assertRefused(Refusal.BAD_NAME, () -> Limits.kind("k".repeat(101)));
    assertRefused(Refusal.BAD_NAME, () -> Limits.word("tenant", "<script>"))
        .hasMessageStartingWith("tenant '<script>'");
  }

  @Test
  void a_key_may_contain_anything_that_can_be_stored() {
    assertThat(Limits.key("uniqueKey", "Jürgen's \"order\" 😀 #1")).contains("😀");
    assertThat(Limits.key("uniqueKey", "k".repeat(255))).hasSize(255);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "a\0b", "half \uD83D of a pair", "\uDE00 the other", "\uD83D"})
  void a_key_that_cannot_be_stored_is_refused(String key) {
    assertRefused(Refusal.BAD_KEY, () -> Limits.key("uniqueKey", key));
  }

  @Test
  void a_key_of_256_characters_is_refused() {
    assertRefused(Refusal.BAD_KEY, () -> Limits.key("uniqueKey", "k".repeat(256)));
  }

  @Test
  void documents_are_limited_in_bytes_not_in_characters() {
    String full = "\"" + "x".repeat(Limits.PAYLOAD_BYTES - 2) + "\"";
    assertThat(Limits.payload(new Json(full)).text()).isSameAs(full);
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(new Json(full + " ")))
        .hasMessageContaining("1,048,576 bytes");
    String wide = "\"" + "ü".repeat(Limits.PAYLOAD_BYTES / 2) + "\"";
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(new Json(wide)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e-16383",
        "1E-16383",
        "-1.5e-16380",
        "0.1e-016382",
      })
  void numbers_count_with_their_expanded_length(String number) {
    Json many = new Json("[" + (number + ",").repeat(99) + number + "]");
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(many))
        .hasMessageContaining("written out");
    assertRefused(Refusal.RESULT_TOO_LARGE, () -> Limits.result(many));
    assertRefused(Refusal.EVENT_TOO_LARGE, () -> Limits.eventData(many));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e999", "-1E+309", "1.8e308", "0.1e310", "9e99999999999", "1e131071"})
  void a_number_that_is_larger_than_any_double_is_refused(String number) {
    Json one = new Json("{\"text\": \"1e999 \\\" 1e999\", \"n\": [1, " + number + "]}");
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(one))
        .hasMessageContaining("pass it as text");
    assertRefused(Refusal.RESULT_TOO_LARGE, () -> Limits.result(one));
    assertRefused(Refusal.EVENT_TOO_LARGE, () -> Limits.eventData(one));
    assertRefused(
        Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(new Json("9".repeat(309) + ".5")));
    assertThat(Limits.payload(new Json("1" + "0".repeat(308))).text()).hasSize(309);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a.txt", "Bericht für März – 1.pdf", "👩\u200d👧.png", "می\u200cخواهم.txt"})
  void an_artifact_name_is_any_file_name_that_is_seen_as_it_is(String name) {
    assertThat(Limits.artifactName(name)).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        ".hidden",
        "a/b",
        "a\\b",
        "a\0",
        "a\tb",
        "a\nb",
        "a\r",
        "\u001b[31m",
        "a\u009b2J",
        "a\u0085",
        "invoice\u202efdp.exe",
        "a\u2066b",
        "a\u200b.txt",
        "a\u2028b",
        "\ufeffa",
        "a\u00adb",
        "a\u200db",
        "\uD83D"
      })
  void an_artifact_name_that_hides_or_turns_around_what_it_says_is_refused(String name) {
    assertRefused(Refusal.BAD_NAME, () -> Limits.artifactName(name))
        .extracting(Throwable::getMessage)
        .matches(message -> Text.inert(message).equals(message));
  }

  @Test
  void artifacts_and_completions_are_limited_by_their_expanded_size() {
    Json many = new Json("[" + "1e-16383,".repeat(99) + "1]");
    Lease lease = new Lease(JobId.next(), 1);
    Artifact artifact = new Artifact("a", 1, "0".repeat(64));
    assertRefused(
        Refusal.RESULT_TOO_LARGE, () -> new Publication(lease, "s", List.of(artifact), many));
    Settlement done = new Settlement.Succeed(lease, null);
    assertRefused(
        Refusal.EVENT_TOO_LARGE,
        () -> new Completion(done, "SUCCEEDED", "", "w", null, many, null, null));
    assertRefused(
        Refusal.EVENT_TOO_LARGE,
        () -> new Completion(done, "SUCCEEDED", "", "w", null, null, many, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e5",
        "6.02214076e23",
        "1.7976931348623157E308",
        "4.9E-324",
        "true",
        "false",
        "[1e-16383]",
        "0e999",
        "1e308",
        "\"1e999999999\"",
        "\"\\\"1e999999999\"",
        "{\"1e999999999\": 1}"
      })
  void usual_numbers_and_texts_that_look_like_large_numbers_are_accepted(String json) {
    assertThat(Limits.payload(new Json(json)).text()).isSameAs(json);
  }

  @Test
  void each_kind_of_document_has_its_own_refusal_code() {
    Json large = new Json("x".repeat(Limits.RESULT_BYTES + 1));
    Json half = new Json("\"\uD83D\"");
    assertRefused(Refusal.RESULT_TOO_LARGE, () -> Limits.result(large));
    assertRefused(Refusal.EVENT_TOO_LARGE, () -> Limits.eventData(large));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> Limits.payload(half));
    assertRefused(Refusal.RESULT_NOT_JSON, () -> Limits.result(half));
    assertRefused(Refusal.EVENT_NOT_JSON, () -> Limits.eventData(half));
  }

  @Test
  void a_delay_is_between_zero_and_a_century() {
    assertThat(Limits.delay("delay", Duration.ZERO)).isZero();
    assertThat(Limits.delay("delay", Duration.ofDays(36_500))).isEqualTo(Duration.ofDays(36_500));
    assertRefused(Refusal.BAD_DELAY, () -> Limits.delay("snooze", Duration.ofMillis(-1)))
        .hasMessageStartingWith("snooze PT-0.001S");
    assertRefused(
        Refusal.BAD_DELAY, () -> Limits.delay("snooze", Duration.ofSeconds(Long.MAX_VALUE)));
  }
}
