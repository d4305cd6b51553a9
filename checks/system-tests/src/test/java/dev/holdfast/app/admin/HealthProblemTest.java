package dev.holdfast.app.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.contract.operate.Operator;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HealthProblemTest {
  private static HealthCommand.Problem shown(String code, Map<String, Object> parameters) {
    return HealthCommand.Problem.of(
        new Operator.Problem(code, parameters, "the moon is full", "wait"));
  }

  @Test
  void a_problem_is_put_into_words_here() {
    Map<String, Object> parameters = Map.of("queue", "tag", "jobs", 2);
    assertThat(shown("queue_paused", parameters))
        .isEqualTo(
            new HealthCommand.Problem(
                "queue_paused",
                parameters,
                "queue 'tag' is paused and 2 jobs wait in it",
                "resume it with 'holdfast queues resume tag'"));
  }

  @Test
  void a_problem_of_a_newer_server_has_the_words_of_that() {
    assertThat(shown("moon_full", Map.of()))
        .isEqualTo(new HealthCommand.Problem("moon_full", Map.of(), "the moon is full", "wait"));
  }
}
