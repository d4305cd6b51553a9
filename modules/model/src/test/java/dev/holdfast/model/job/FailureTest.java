package dev.holdfast.model.job;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FailureTest {
  private static final Map<FailureCategory, Boolean> RETRYABLE =
      Map.of(
          FailureCategory.USER_CODE, true,
          FailureCategory.DATA_QUALITY, false,
          FailureCategory.INFRASTRUCTURE, true,
          FailureCategory.CONFIGURATION, false,
          FailureCategory.TIMEOUT, true,
          FailureCategory.CANCELLED, false);

  /** An exception whose message throws. */
  private static final class Hostile extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message for you");
    }
  }

  @ParameterizedTest
  @EnumSource
  void the_category_decides_whether_a_failure_is_retryable(FailureCategory category) {
    assertThat(Failure.of(category, "SOME_CODE", "x").retryable())
        .isEqualTo(RETRYABLE.get(category));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INPUT_TOO_LARGE",
        "VALIDATION",
        "NO_HANDLER",
        "DEADLINE_EXCEEDED",
        "CANCEL_TIMEOUT",
        "TOXIC_JOB"
      })
  void some_codes_are_never_retried(String code) {
    assertThat(Failure.of(FailureCategory.USER_CODE, code, "x").retryable()).isFalse();
  }

  @Test
  void an_exception_becomes_a_retryable_failure_of_the_handler() {
    Failure failure = Failure.from(new IllegalStateException("disk full"));
    assertThat(failure.category()).isEqualTo(FailureCategory.USER_CODE);
    assertThat(failure.code()).isEqualTo(Failure.HANDLER_FAILED);
    assertThat(failure.message()).isEqualTo("IllegalStateException: disk full");
    assertThat(failure.retryable()).isTrue();
    assertThat(failure.stackTrace()).contains("FailureTest.an_exception_becomes");
  }

  @Test
  void an_exception_without_a_message_is_shown_by_its_class_name() {
    assertThat(Failure.from(new IllegalStateException()).message())
        .isEqualTo("IllegalStateException");
    assertThat(Failure.from(new RuntimeException("anonymous") {}).message())
        .startsWith("dev.holdfast.model.job.FailureTest$")
        .endsWith(": anonymous");
  }

  @Test
  void an_exception_whose_message_throws_is_still_a_failure() {
    Failure failure = Failure.from(new Hostile());
    assertThat(failure.message()).startsWith("Hostile: ").contains("IllegalStateException");
    assertThat(failure.stackTrace()).isNull();
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void an_error_becomes_a_failure_too() {
    assertThat(Failure.from(new OutOfMemoryError("Java heap space")).message())
        .isEqualTo("OutOfMemoryError: Java heap space");
  }

  @Test
  void a_handler_may_throw_its_own_failure() {
    FailedException thrown =
        FailedException.of(FailureCategory.DATA_QUALITY, "BAD_ROW", "row 7 has no price");
    Failure failure = Failure.from(thrown);
    assertThat(failure.category()).isEqualTo(FailureCategory.DATA_QUALITY);
    assertThat(failure.code()).isEqualTo("BAD_ROW");
    assertThat(failure.message()).isEqualTo("row 7 has no price");
    assertThat(failure.retryable()).isFalse();
    assertThat(failure.stackTrace()).contains("FailedException");
    assertThat(thrown.retryAfter()).isNull();
  }

  @Test
  void a_handler_may_set_a_retry_delay_that_is_not_negative() {
    Failure failure = Failure.of(FailureCategory.INFRASTRUCTURE, "BUSY", "later");
    assertThat(new FailedException(failure, Duration.ofMinutes(3)).retryAfter())
        .isEqualTo(Duration.ofMinutes(3));
    assertRefused(Refusal.BAD_DELAY, () -> new FailedException(failure, Duration.ofMinutes(-3)));
  }

  @Test
  void texts_are_cut_to_their_limits() {
    Failure failure =
        new Failure(
            FailureCategory.USER_CODE,
            "C".repeat(1_000),
            "m\0".repeat(10_000),
            "s".repeat(100_000),
            true);
    assertThat(failure.code()).hasSize(Limits.NAME_CHARS);
    assertThat(failure.message()).hasSize(Limits.MESSAGE_CHARS).doesNotContain("\0");
    assertThat(failure.stackTrace()).hasSize(Limits.STACK_TRACE_CHARS).endsWith("…");
  }

  @Test
  void retryable_can_be_overridden() {
    Failure failure = Failure.of(FailureCategory.DATA_QUALITY, "C", "m").withRetryable(true);
    assertThat(failure.retryable()).isTrue();
  }
}
