package dev.holdfast.chaos.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class AcknowledgementsTest {
  private final Instant start = Instant.now();
  private final Acknowledgements acknowledgements = new Acknowledgements(start);

  private Instant after(long millis) {
    return start.plusMillis(millis);
  }

  private void acknowledgedAfter(long... millis) {
    for (long each : millis) {
      acknowledgements.add(after(each));
    }
  }

  @Test
  void an_outage_lasts_until_acknowledgements_come_without_a_silence_of_a_second() {
    acknowledgedAfter(300, 11_000, 11_100, 18_000, 18_900, 19_800);
    assertThat(acknowledgements.outage())
        .isEqualTo(new Acknowledgements.Outage(after(300), after(18_000)));
  }

  @Test
  void short_pauses_are_no_outage_and_an_earlier_one_is_forgotten() {
    acknowledgedAfter(2_000);
    acknowledgements.begin();
    acknowledgedAfter(2_900, 3_800);
    assertThat(acknowledgements.outage().length()).isEqualTo(Duration.ZERO);
  }
}
