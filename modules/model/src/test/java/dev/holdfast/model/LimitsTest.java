package dev.holdfast.model;

import static dev.holdfast.model.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
  @ParameterizedTest
  @ValueSource(strings = {"mail", "Mail-2.high_prio", "0"})
  void a_good_queue_name_is_taken(String name) {
    assertThat(Limits.queue(name)).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "-x", ".x", "a b", "a:b", "a\"b", "a/b", "ä", "a\n", "a\0"})
  void a_bad_queue_name_is_refused(String name) {
    assertRefused(Refusal.BAD_NAME, () -> Limits.queue(name));
  }

  @Test
  void a_queue_name_fits_into_a_notification_channel() {
    assertThat(Limits.queue("q".repeat(48))).hasSize(48);
    assertRefused(Refusal.BAD_NAME, () -> Limits.queue("q".repeat(49)))
        .hasMessageContaining("1 to 48 characters");
  }

  @Test
  void kinds_and_words_may_hold_colons_and_slashes() {
    assertThat(Limits.kind("mail/send:v2")).isEqualTo("mail/send:v2");
    assertThat(Limits.word("event type", "source:ready")).isEqualTo("source:ready");
    assertRefused(Refusal.BAD_NAME, () -> Limits.kind("k".repeat(101)));
    assertRefused(Refusal.BAD_NAME, () -> Limits.word("tenant", "<script>"))
        .hasMessageStartingWith("tenant '<script>'");
  }

  @Test
  void a_key_may_hold_anything_that_can_be_stored() {
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
  void documents_are_counted_in_bytes_not_in_characters() {
    String full = "\"" + "x".repeat(Limits.PAYLOAD_BYTES - 2) + "\"";
    assertThat(Limits.payload(new Json(full)).text()).isSameAs(full);
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(new Json(full + " ")))
        .hasMessageContaining("1,048,576 bytes");
    String wide = "\"" + "ü".repeat(Limits.PAYLOAD_BYTES / 2) + "\"";
    assertRefused(Refusal.PAYLOAD_TOO_LARGE, () -> Limits.payload(new Json(wide)));
  }

  @Test
  void each_kind_of_document_has_its_own_refusal() {
    Json large = new Json("x".repeat(Limits.RESULT_BYTES + 1));
    Json half = new Json("\"\uD83D\"");
    assertRefused(Refusal.RESULT_TOO_LARGE, () -> Limits.result(large));
    assertRefused(Refusal.EVENT_TOO_LARGE, () -> Limits.eventData(large));
    assertRefused(Refusal.PAYLOAD_NOT_JSON, () -> Limits.payload(half));
    assertRefused(Refusal.RESULT_NOT_JSON, () -> Limits.result(half));
    assertRefused(Refusal.EVENT_NOT_JSON, () -> Limits.eventData(half));
  }

  @Test
  void a_delay_lies_between_nothing_and_a_century() {
    assertThat(Limits.delay("delay", Duration.ZERO)).isZero();
    assertThat(Limits.delay("delay", Duration.ofDays(36_500))).isEqualTo(Duration.ofDays(36_500));
    assertRefused(Refusal.BAD_DELAY, () -> Limits.delay("snooze", Duration.ofMillis(-1)))
        .hasMessageStartingWith("snooze PT-0.001S");
    assertRefused(
        Refusal.BAD_DELAY, () -> Limits.delay("snooze", Duration.ofSeconds(Long.MAX_VALUE)));
  }
}
