package dev.holdfast.model.attempt;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SettlementTest {
  private final Lease lease = new Lease(JobId.next(), 1);
  private final Json large = new Json("x".repeat(Limits.RESULT_BYTES + 1));

  @Test
  void an_attempt_that_was_never_claimed_has_no_lease() {
    assertThatThrownBy(() -> new Lease(JobId.next(), 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(lease).hasToString(lease.job() + "#1");
  }

  @Test
  void a_settlement_with_a_result_over_the_limit_cannot_be_created() {
    assertRefused(Refusal.RESULT_TOO_LARGE, () -> new Settlement.Succeed(lease, large));
    assertRefused(Refusal.RESULT_TOO_LARGE, () -> new Settlement.Cancel(lease, large));
    assertThat(new Settlement.Succeed(lease, null).result()).isNull();
  }

  @Test
  void a_delay_out_of_range_is_refused() {
    Failure failure = Failure.of(FailureCategory.USER_CODE, "C", "m");
    assertRefused(
        Refusal.BAD_DELAY, () -> new Settlement.Fail(lease, failure, Duration.ofMillis(-1)));
    assertRefused(
        Refusal.BAD_DELAY, () -> new Settlement.Snooze(lease, Duration.ofDays(1_000_000)));
  }

  @Test
  void progress_out_of_range_is_refused_and_a_long_message_is_cut() {
    assertRefused(Refusal.BAD_PROGRESS, () -> new Report.Progress(lease, 101, null));
    assertRefused(Refusal.BAD_PROGRESS, () -> new Report.Progress(lease, -1, null));
    assertThat(new Report.Progress(lease, 50, "m".repeat(1_000)).message())
        .hasSize(Limits.PROGRESS_MESSAGE_CHARS);
  }

  @Test
  void an_event_with_an_invalid_type_or_data_over_the_limit_is_refused() {
    assertRefused(Refusal.BAD_NAME, () -> new Report.Event(lease, "not a word", Json.EMPTY));
    assertRefused(Refusal.EVENT_TOO_LARGE, () -> new Report.Event(lease, "x", large));
  }
}
