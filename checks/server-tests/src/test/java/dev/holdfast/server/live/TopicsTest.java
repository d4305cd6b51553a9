package dev.holdfast.server.live;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopicsTest {
  @ParameterizedTest
  @CsvSource({
    "*, system:health, true",
    "queue:*, queue:jobs, true",
    "queue:*, queue:work:status, true",
    "queue:*, worker:work:0:status, false",
    "queue:*:status, queue:status, false",
    "queue:*:status, queue:work:status, true",
    "queue:*:status, queue:jobs, false",
    "worker:work:*, worker:work:0:status, true",
    "worker:work:*, worker:workshop:0:status, false",
    "worker:*:0:*, worker:work:0:status, true",
    "worker:*:0:*, worker:work:1:status, false",
    "queue:status, queue:status, true",
    "queue:status, queue:status:status, false",
    "**, queue:jobs, true",
    "queue:a*a, queue:a, false"
  })
  void a_star_matches_any_text(String pattern, String topic, boolean expected) {
    assertThat(Topics.matches(pattern, topic)).isEqualTo(expected);
  }
}
