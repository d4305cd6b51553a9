package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.queue.JobStore;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Failing, retries and strict kinds. */
class FailingTest extends Guide {
  private static final Duration HOUR = Duration.ofHours(1);

  private boolean bankIsClosed;
  private boolean tooManyRequests;

  private boolean bankIsClosed() {
    return bankIsClosed;
  }

  private boolean tooManyRequests() {
    return tooManyRequests;
  }

  private Object charge(Charge charge, JobContext context) {
    // region failing
    if (charge.cents() <= 0) {
      throw FailedException.of(FailureCategory.DATA_QUALITY, "BAD_AMOUNT", "nothing to charge");
    }
    if (bankIsClosed()) {
      throw context.snooze(Duration.ofHours(1)); // come back later; uses no budget
    }
    if (tooManyRequests()) {
      throw new FailedException(
          Failure.of(FailureCategory.INFRASTRUCTURE, "RATE_LIMITED", "the bank is busy"),
          Duration.ofSeconds(20)); // a delay of its own
    }
    // endregion
    return Map.of("charged", charge.cents());
  }

  private JobStatus charged(long cents) {
    JobId id = enqueue(Job.of("charge", new Charge("ada", cents)));
    holdfast.worker("default").handle("charge", Charge.class, this::charge).drain();
    return status(id);
  }

  private static Duration wait(JobStatus job) {
    return Duration.between(job.startedAt(), job.runAt());
  }

  @Test
  void a_handler_may_fail_snooze_or_set_a_retry_delay() {
    assertThat(charged(4_200).state()).isEqualTo(JobState.SUCCEEDED);

    JobStatus bad = charged(0);
    assertThat(bad.state()).isEqualTo(JobState.FAILED);
    assertThat(bad.failure())
        .returns("BAD_AMOUNT", Failure::code)
        .returns("nothing to charge", Failure::message)
        .returns(FailureCategory.DATA_QUALITY, Failure::category);

    bankIsClosed = true;
    JobStatus snoozed = charged(4_200);
    bankIsClosed = false;
    assertThat(snoozed.state()).isEqualTo(JobState.PENDING);
    assertThat(snoozed.failures()).isZero();
    assertThat(wait(snoozed)).isGreaterThanOrEqualTo(HOUR);

    tooManyRequests = true;
    JobStatus busy = charged(4_200);
    tooManyRequests = false;
    assertThat(busy.state()).isEqualTo(JobState.RETRYING);
    assertThat(busy.failures()).isEqualTo(1);
    assertThat(wait(busy)).isGreaterThanOrEqualTo(Duration.ofSeconds(20)).isLessThan(HOUR);
  }

  /** An attempt that fails like this, with a retry, if there is one, in an hour. */
  private JobStatus failed(Failure failure) {
    JobId id = enqueue(Job.of("fails"));
    holdfast
        .worker("default")
        .handle(
            "fails",
            Json.class,
            (payload, context) -> {
              throw new FailedException(failure, HOUR);
            })
        .drain();
    return status(id);
  }

  @ParameterizedTest
  @EnumSource
  void the_category_decides_whether_it_is_retried_unless_the_failure_overrides_it(
      FailureCategory category) {
    boolean retried =
        Set.of(FailureCategory.USER_CODE, FailureCategory.INFRASTRUCTURE, FailureCategory.TIMEOUT)
            .contains(category);
    Failure failure = Failure.of(category, "ANY", "any");
    assertThat(failed(failure).state()).isEqualTo(retried ? JobState.RETRYING : JobState.FAILED);
    assertThat(failed(failure.withRetryable(!retried)).state())
        .isEqualTo(retried ? JobState.FAILED : JobState.RETRYING);
  }

  @ParameterizedTest
  @CsvSource({
    "INPUT_TOO_LARGE",
    "VALIDATION",
    "NO_HANDLER",
    "DEADLINE_EXCEEDED",
    "CANCEL_TIMEOUT",
    "TOXIC_JOB"
  })
  void some_codes_are_never_retried(String code) {
    assertThat(failed(Failure.of(FailureCategory.INFRASTRUCTURE, code, "any")).state())
        .isEqualTo(JobState.FAILED);
  }

  @Test
  void an_exception_is_a_failure_of_the_handler_and_is_retried_by_the_policy_of_its_kind() {
    // region retry
    Kind<Charge> kind =
        Kind.of("charge", Charge.class, this::charge)
            .retry(new RetryPolicy(Duration.ofSeconds(5), 3, Duration.ofHours(1)));
    // endregion
    RetryPolicy policy = Objects.requireNonNull(kind.retry());
    assertThat(policy.ceiling(1)).isEqualTo(Duration.ofSeconds(5));
    assertThat(policy.ceiling(2)).isEqualTo(Duration.ofSeconds(15));
    assertThat(policy.ceiling(9)).isEqualTo(HOUR);

    JobId id = enqueue(Job.of("explodes").maxAttempts(2));
    holdfast
        .worker("default")
        .handle(
            "explodes",
            Json.class,
            RetryPolicy.NONE,
            (payload, context) -> {
              throw new IllegalStateException(
                  context.lease().attempt() + " after " + context.job().failures());
            })
        .drain();
    assertThat(holdfast.queries().attempts(id))
        .allSatisfy(
            attempt -> {
              assertThat(attempt.outcome()).isEqualTo(AttemptOutcome.FAILED);
              assertThat(attempt.failure())
                  .returns("HANDLER_FAILED", Failure::code)
                  .returns(FailureCategory.USER_CODE, Failure::category);
            })
        .hasSize(2);
    assertThat(state(id)).isEqualTo(JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo("RETRIES_EXHAUSTED");
    assertThat(failure(id).message()).contains("2 after 1");
  }

  @Test
  void retry_defaults_come_from_kind_and_queue() {
    RetryPolicy hourly = new RetryPolicy(HOUR, 1, HOUR);
    DataSource dataSource = db.dataSource();
    // region defaults
    RetryDefaults defaults =
        new RetryDefaults(
            new Retries(5, RetryPolicy.DEFAULT),
            Map.of("charge", new Retries(8, hourly)),
            Map.of("mail", new Retries(3, null)));
    Holdfast holdfast =
        Holdfast.on(dataSource, new JacksonCodec(), JobStore.Options.DEFAULT.retries(defaults));
    // endregion
    try (holdfast) {
      JobId charge = holdfast.enqueue(Job.of("charge")).id();
      holdfast
          .worker("default")
          .handle(
              "charge",
              Json.class,
              (payload, context) -> {
                throw new IllegalStateException("no");
              })
          .drain();
      JobStatus status = holdfast.find(charge).orElseThrow();
      assertThat(status.maxAttempts()).isEqualTo(8);
      assertThat(Duration.between(holdfast.queries().now(), status.runAt()))
          .isBetween(HOUR.dividedBy(3), HOUR);
      JobId mail = holdfast.enqueue(Job.of("any").queue("mail")).id();
      assertThat(holdfast.find(mail).orElseThrow().maxAttempts()).isEqualTo(3);
    }
  }

  @Test
  void a_payload_may_have_a_parameterized_type() {
    // region generic
    Kind<List<Charge>> kind =
        Kind.of("charge-all", new PayloadType<List<Charge>>() {}, this::chargeAll);
    // endregion
    assertThat(kind.payload().toString()).startsWith("java.util.List<");
  }

  private int chargeAll(List<Charge> charges, JobContext context) {
    return charges.size();
  }

  @Test
  void a_strict_kind_runs_like_any_other_while_its_lease_is_extended() {
    // region strict
    Kind<Charge> kind = Kind.of("charge", Charge.class, this::charge).strictly();
    // endregion
    assertThat(kind.strict()).isTrue();
    JobId id = enqueue(Job.of("charge", new Charge("ada", 4_200)));
    holdfast.worker("default").handle(kind).drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
  }
}
