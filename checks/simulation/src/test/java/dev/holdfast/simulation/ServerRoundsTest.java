package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.simulation.compare.ServerRounds;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.OnlyWithAll;
import org.junit.jupiter.api.Test;

/** A server trusts a token for its own attempt alone, and its readers miss nothing. */
@OnlyWithAll
class ServerRoundsTest {
  @Test
  void tokens_of_other_attempts_do_nothing_and_a_reader_that_resumes_misses_no_event()
      throws Exception {
    try (ServerRounds server = new ServerRounds()) {
      assertThat(server.differs(1, Extent.of(8, 40))).isNull();
    }
  }
}
