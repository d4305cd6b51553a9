package dev.holdfast.model.job;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Refusal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceparentTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes",
      })
  void a_valid_traceparent_is_accepted(String text) {
    assertThat(Traceparent.isOne(text)).isTrue();
    assertThat(Job.of("k").traceparent(text).traceparent()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01what",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-\n",
        " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      })
  void an_invalid_traceparent_is_refused(String text) {
    assertThat(Traceparent.isOne(text)).isFalse();
    assertRefused(Refusal.BAD_TRACEPARENT, () -> Job.of("k").traceparent(text));
  }
}
