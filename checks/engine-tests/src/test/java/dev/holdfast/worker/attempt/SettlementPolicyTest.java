package dev.holdfast.worker.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettlementPolicyTest {
  private static final RetryPolicy POLICY =
      new RetryPolicy(Duration.ofSeconds(4), 2, Duration.ofMinutes(1));
  private final LeasedJob job = Samples.job(Samples.KIND, Duration.ofSeconds(3), null);

  @ParameterizedTest(name = "{0} after {1}: {2}, strict {3}")
  @CsvSource(
      useHeadersInDisplayName = true,
      textBlock =
          """
          outcome,       told to stop,  settled,               when strict
          succeeded,     -,             succeed,               =
          succeeded,     cancelled,     succeed,               =
          succeeded,     lease lost,    nothing,               =
          succeeded,     lease ran out, succeed,               =
          succeeded,     timed out,     succeed,               =
          succeeded,     past deadline, succeed,               =
          succeeded,     shutdown,      succeed,               =
          continued,     -,             continue,              =
          continued,     cancelled,     cancel,                =
          continued,     lease lost,    nothing,               =
          continued,     lease ran out, continue,              =
          continued,     timed out,     continue,              =
          continued,     past deadline, fail DEADLINE_EXCEEDED,=
          continued,     shutdown,      continue,              =
          settled itself,-,             nothing,               =
          settled itself,cancelled,     nothing,               =
          settled itself,lease lost,    nothing,               =
          settled itself,lease ran out, nothing,               =
          settled itself,timed out,     nothing,               =
          settled itself,past deadline, nothing,               =
          settled itself,shutdown,      nothing,               =
          failed,        -,             fail HANDLER_FAILED,   =
          failed,        cancelled,     cancel,                =
          failed,        lease lost,    nothing,               =
          failed,        lease ran out, release,               =
          failed,        timed out,     fail ATTEMPT_TIMEOUT,  =
          failed,        past deadline, fail DEADLINE_EXCEEDED,=
          failed,        shutdown,      abort,                 =
          snoozed,       -,             snooze,                =
          snoozed,       cancelled,     cancel,                =
          snoozed,       lease lost,    nothing,               =
          snoozed,       lease ran out, release,               =
          snoozed,       timed out,     fail ATTEMPT_TIMEOUT,  =
          snoozed,       past deadline, fail DEADLINE_EXCEEDED,=
          snoozed,       shutdown,      abort,                 =
          abandoned,     -,             nothing,               =
          abandoned,     cancelled,     fail CANCEL_TIMEOUT,   =
          abandoned,     lease lost,    nothing,               =
          abandoned,     lease ran out, nothing,               =
          abandoned,     timed out,     fail ATTEMPT_TIMEOUT,  =
          abandoned,     past deadline, fail DEADLINE_EXCEEDED,=
          abandoned,     shutdown,      abort,                 nothing
          never begun,   -,             nothing,               =
          never begun,   cancelled,     nothing,               =
          never begun,   lease lost,    nothing,               =
          never begun,   lease ran out, nothing,               =
          never begun,   timed out,     nothing,               =
          never begun,   past deadline, nothing,               =
          never begun,   shutdown,      nothing,               =
          suspended,     -,             nothing,               =
          suspended,     cancelled,     nothing,               =
          suspended,     lease lost,    nothing,               =
          suspended,     lease ran out, nothing,               =
          suspended,     timed out,     nothing,               =
          suspended,     past deadline, nothing,               =
          suspended,     shutdown,      nothing,               =
          """)
  void the_settlement_follows_from_the_outcome_and_the_stop_reason(
      String outcome, String stop, String settled, String whenStrict) {
    assertThat(settled(outcome(outcome), stop(stop), false)).isEqualTo(settled);
    assertThat(settled(outcome(outcome), stop(stop), true))
        .isEqualTo(whenStrict.equals("=") ? settled : whenStrict);
  }

  @Test
  void the_table_above_is_complete() {
    assertThat(Outcome.class.getPermittedSubclasses()).hasSize(8);
    assertThat(StopReason.class.getPermittedSubclasses()).hasSize(6);
  }

  @Test
  void a_failure_is_retried_after_the_delay_of_its_kind() {
    for (int i = 0; i < 100; i++) {
      Settlement.Fail fail = fail(new Outcome.Failed(failure(), null), null);
      assertThat(fail.retryAfter()).isBetween(Duration.ZERO, Duration.ofSeconds(4));
    }
  }

  @Test
  void a_kind_without_a_policy_leaves_the_delay_to_the_queue() {
    SettlementPolicy verdict = new SettlementPolicy(job, null, false, new Random(1));
    assertThat(verdict.on(new Outcome.Failed(failure(), null), null))
        .contains(new Settlement.Fail(job.lease(), failure(), null));
  }

  @Test
  void the_delay_set_by_a_handler_takes_precedence() {
    Settlement.Fail fail = fail(new Outcome.Failed(failure(), Duration.ofHours(3)), null);
    assertThat(fail.retryAfter()).isEqualTo(Duration.ofHours(3));
  }

  @Test
  void a_timeout_is_retryable_and_its_message_has_the_duration() {
    Settlement.Fail fail = fail(new Outcome.Abandoned(), new StopReason.TimedOut());
    assertThat(fail.failure().category()).isEqualTo(FailureCategory.TIMEOUT);
    assertThat(fail.failure().retryable()).isTrue();
    assertThat(fail.failure().message()).contains("3000 ms");
  }

  @ParameterizedTest
  @ValueSource(strings = {"past deadline", "cancelled"})
  void an_abandoned_handler_is_not_retried_after_a_deadline_or_a_cancel(String stop) {
    assertThat(fail(new Outcome.Abandoned(), stop(stop)).failure().retryable()).isFalse();
  }

  @Test
  void a_lost_lease_outranks_every_reason_and_a_shutdown_all_others() {
    StopReason lost = new StopReason.LeaseLost();
    StopReason shutdown = new StopReason.Shutdown();
    for (String name : new String[] {"cancelled", "lease ran out", "timed out", "past deadline"}) {
      StopReason other = stop(name);
      assertThat(other).isNotNull();
      if (other != null) {
        assertThat(lost.outranks(other)).isTrue();
        assertThat(shutdown.outranks(other)).isTrue();
        assertThat(other.outranks(lost)).isFalse();
        assertThat(other.outranks(shutdown)).isFalse();
      }
    }
    assertThat(lost.outranks(shutdown)).isTrue();
    assertThat(shutdown.outranks(lost)).isFalse();
  }

  private Settlement.Fail fail(Outcome outcome, @Nullable StopReason stop) {
    return (Settlement.Fail) verdict(false).on(outcome, stop).orElseThrow();
  }

  private String settled(Outcome outcome, @Nullable StopReason stop, boolean strict) {
    return verdict(strict)
        .on(outcome, stop)
        .map(
            settlement -> {
              assertThat(settlement.lease()).isEqualTo(job.lease());
              return switch (settlement) {
                case Settlement.Succeed succeed -> "succeed";
                case Settlement.Continue next -> "continue";
                case Settlement.Fail fail -> "fail " + fail.failure().code();
                case Settlement.Cancel cancel -> "cancel";
                case Settlement.Snooze snooze -> "snooze";
                case Settlement.Release release ->
                    release.abortedByShutdown() ? "abort" : "release";
              };
            })
        .orElse("nothing");
  }

  private SettlementPolicy verdict(boolean strict) {
    return new SettlementPolicy(job, POLICY, strict, new Random(1));
  }

  private static Failure failure() {
    return Failure.of(FailureCategory.USER_CODE, Failure.HANDLER_FAILED, "boom");
  }

  private static Outcome outcome(String name) {
    return switch (name) {
      case "succeeded" -> new Outcome.Succeeded(Json.EMPTY);
      case "continued" -> new Outcome.Continued(Json.EMPTY);
      case "settled itself" -> new Outcome.SettledItself();
      case "failed" -> new Outcome.Failed(failure(), null);
      case "snoozed" -> new Outcome.Snoozed(Duration.ofMinutes(1));
      case "abandoned" -> new Outcome.Abandoned();
      case "never begun" -> new Outcome.LostBeforeItBegan();
      case "suspended" -> new Outcome.Suspended();
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static @Nullable StopReason stop(String name) {
    return switch (name) {
      case "-" -> null;
      case "cancelled" -> new StopReason.Cancelled("wanted");
      case "lease lost" -> new StopReason.LeaseLost();
      case "lease ran out" -> new StopReason.LeaseRanOut();
      case "timed out" -> new StopReason.TimedOut();
      case "past deadline" -> new StopReason.PastDeadline();
      case "shutdown" -> new StopReason.Shutdown();
      default -> throw new IllegalArgumentException(name);
    };
  }
}
