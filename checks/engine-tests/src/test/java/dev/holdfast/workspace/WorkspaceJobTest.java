package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.JacksonCodec;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.Budgets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@OnlyWithAll
class WorkspaceJobTest {
  private static final Codec CODEC = new JacksonCodec();

  private static final Budgets USUAL = Budgets.DEFAULT;

  private static WorkspaceJob job(String budgets) {
    return CODEC.decode(
        new Json(
            """
            {"objective": "x", "repository": {"url": "/repo"},
             "steps": [{"id": "only", "runtime": "edit"}], "budgets": %s}
            """
                .formatted(budgets)),
        WorkspaceJob.class);
  }

  @Test
  void budgets_may_be_in_snake_case_or_camel_case() {
    Budgets expected = new Budgets(5, Duration.ofSeconds(9), Duration.ofMillis(500), 4, 3);
    assertThat(
            job("""
                {"step_max_attempts": 5, "step_timeout_seconds": 9,
                 "step_idle_timeout_seconds": 0.5, "step_no_progress_limit": 4,
                 "job_self_heal_max_resets": 3}
                """)
                .budgets(USUAL))
        .isEqualTo(expected);
    assertThat(
            job("""
                {"stepMaxAttempts": 5, "stepTimeoutSeconds": 9, "stepIdleTimeoutSeconds": 0.5,
                 "stepNoProgressLimit": 4, "jobSelfHealMaxResets": 3}
                """)
                .budgets(USUAL))
        .isEqualTo(expected);
  }

  @Test
  void fields_that_are_not_given_have_the_defaults_of_the_worker() {
    assertThat(job("null").budgets(USUAL)).isEqualTo(USUAL);
    assertThat(job("{\"stepMaxAttempts\": null}").budgets(USUAL)).isEqualTo(USUAL);
  }

  @Test
  void a_job_round_trips() {
    WorkspaceJob job = job("{\"step_max_attempts\": 5}");
    assertThat(CODEC.decode(CODEC.encode(job), WorkspaceJob.class)).isEqualTo(job);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"stepIdleTimeout\": 5}             | there is no budget 'stepIdleTimeout', only step",
        "{\"step_max_attempt\": 5}            | there is no budget 'step_max_attempt'",
        "{\"stepMaxAttempts\": \"5\"}         | 'stepMaxAttempts' must be a number",
        "{\"stepMaxAttempts\": 2.5}           | 'stepMaxAttempts' must be a whole number",
        "{\"stepMaxAttempts\": 2, \"step_max_attempts\": 3} | 'stepMaxAttempts' is given twice"
      })
  void invalid_budgets_are_refused_with_a_reason(String budgets, String words) {
    assertThatThrownBy(() -> job(budgets)).hasMessageContaining(words);
  }
}
