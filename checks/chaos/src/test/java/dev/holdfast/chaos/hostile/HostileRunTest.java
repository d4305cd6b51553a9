package dev.holdfast.chaos.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.OnlyWithAll;
import org.junit.jupiter.api.Test;

/** {@code ./chaos --hostile} for a moment. */
@OnlyWithAll
class HostileRunTest {
  @Test
  void no_hostile_request_is_answered_with_an_error_of_the_server() throws Exception {
    HostileRun.Result result = new HostileRun(3_000, 1, System.out::println).run();
    assertThat(result.wrong()).isEmpty();
    assertThat(result.healthy()).isTrue();
    // Most are understood and refused, and some are even carried out.
    assertThat(result.statuses()).containsKeys(200, 201, 400, 404);
  }
}
