package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.UnknownKind;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** How handlers end, and how their attempts are settled. */
class AttemptExecutorTest extends AttemptExecutorFixture {
  @Test
  void the_return_value_of_a_handler_is_the_result() {
    assertThat(end(host.run(job, (payload, context) -> "fine")))
        .extracting(TestHost.End::settlement, TestHost.End::ack)
        .containsExactly(new Settlement.Succeed(job.lease(), new Json("\"fine\"")), Ack.ACCEPTED);
  }

  @Test
  void without_a_handler_the_job_fails_and_is_not_retried() {
    Failure failure = failure(host.run(job, (Kind<?>) null));
    assertThat(failure.category()).isEqualTo(FailureCategory.CONFIGURATION);
    assertThat(failure.code()).isEqualTo(Failure.NO_HANDLER);
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_kind_that_other_workers_may_handle_is_snoozed_longer_each_time() {
    source.mayHaveHandler = asked -> true;
    assertThat(end(patient().run(job, (Kind<?>) null)).settlement())
        .isEqualTo(new Settlement.Snooze(job.lease(), Duration.ofSeconds(1)));
    assertThat(UnknownKind.delay(2)).isEqualTo(Duration.ofSeconds(2));
    assertThat(UnknownKind.delay(5)).isEqualTo(Duration.ofSeconds(16));
    assertThat(UnknownKind.delay(1_000)).isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void an_attempt_has_begun_while_it_asks_whether_other_workers_handle_its_kind() {
    AttemptExecutor run = patient().run(job, (Kind<?>) null);
    assertThat(run.hasBegun()).isFalse();
    source.mayHaveHandler = asked -> run.hasBegun();
    assertThat(end(run).settlement()).isInstanceOf(Settlement.Snooze.class);
  }

  @Test
  void a_source_without_knowledge_of_other_workers_goes_by_the_attempt_number() {
    Duration timeout = Duration.ofSeconds(6);
    assertThat(source.mayHaveHandler(job, Duration.ZERO)).isFalse();
    assertThat(source.mayHaveHandler(job, timeout)).isTrue();
    assertThat(source.mayHaveHandler(Samples.attempt(job, 3), timeout)).isTrue();
    assertThat(source.mayHaveHandler(Samples.attempt(job, 4), timeout)).isFalse();
  }

  @Test
  void a_payload_of_the_wrong_type_is_not_retried() {
    Failure failure = failure(host.run(job, Kind.of("k", Integer.class, (n, context) -> n)));
    assertThat(failure.category()).isEqualTo(FailureCategory.DATA_QUALITY);
    assertThat(failure.code()).isEqualTo(Failure.VALIDATION);
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_result_that_is_too_large_is_not_retried() {
    Json large = new Json("\"" + "x".repeat(Limits.RESULT_BYTES) + "\"");
    Failure failure = failureOf((payload, context) -> large);
    assertThat(failure.code()).isEqualTo("RESULT_TOO_LARGE");
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_result_that_cannot_be_stored_fails_the_job_instead() {
    source.unstorable.add(job.lease());
    Failure failure = failureOf((payload, context) -> "odd");
    assertThat(failure.code()).isEqualTo("RESULT_NOT_JSON");
    assertThat(failure.retryable()).isFalse();
  }

  @Test
  void a_failure_is_the_one_the_handler_threw() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw FailedException.of(FailureCategory.INFRASTRUCTURE, "S3_DOWN", "no bucket");
            });
    assertThat(failure.code()).isEqualTo("S3_DOWN");
    assertThat(failure.retryable()).isTrue();
    assertThat(failure.stackTrace()).contains("AttemptExecutorTest");
  }

  @Test
  void out_of_memory_is_a_retryable_infrastructure_failure() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw new OutOfMemoryError("heap");
            });
    assertThat(failure.category()).isEqualTo(FailureCategory.INFRASTRUCTURE);
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void an_exception_whose_message_cannot_be_read_is_still_a_failure() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw new IllegalStateException() {
                private static final long serialVersionUID = 1L;

                @Override
                public String getMessage() {
                  throw new UnsupportedOperationException("none of your business");
                }
              };
            });
    assertThat(failure.message()).contains("its message could not be read");
  }

  @Test
  void a_snooze_is_not_a_failure() {
    assertThat(
            end(host.run(
                    job,
                    (payload, context) -> {
                      throw context.snooze(Duration.ofMinutes(5));
                    }))
                .settlement())
        .isEqualTo(new Settlement.Snooze(job.lease(), Duration.ofMinutes(5)));
  }

  @Test
  void a_snooze_into_the_past_fails_only_the_attempt() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              throw context.snooze(Duration.ofMinutes(-5));
            });
    assertThat(failure.code()).isEqualTo("BAD_DELAY");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void progress_out_of_range_throws_and_the_handler_may_continue() {
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  try {
                    context.progress(101);
                  } catch (RefusedException refused) {
                    return "done";
                  }
                  return "unnoticed";
                }));
    assertThat(end.settlement())
        .isEqualTo(new Settlement.Succeed(job.lease(), new Json("\"done\"")));
  }

  @Test
  void uncaught_progress_out_of_range_fails_the_attempt_and_not_the_job() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.progress(-1);
              return null;
            });
    assertThat(failure.code()).isEqualTo("BAD_PROGRESS");
    assertThat(failure.retryable()).isTrue();
  }

  @Test
  void reports_of_the_handler_are_written_before_its_settlement() {
    end(
        host.run(
            job,
            (payload, context) -> {
              context.progress(1);
              context.progress(50);
              context.progress(100);
              return null;
            }));
    assertThat(source.allReported()).last().isEqualTo(new Report.Progress(job.lease(), 100, null));
    assertThat(source.calls.indexOf("settle")).isGreaterThan(source.calls.lastIndexOf("report"));
  }

  @Test
  void an_error_outside_the_handler_fails_the_attempt() {
    host.services.slots().add(host.run(Samples.job(), (payload, context) -> null));
    source.before =
        verb -> {
          if (verb.equals("heartbeat")) {
            throw new IllegalStateException("permission denied");
          }
        };
    long longAgo = System.nanoTime() - Duration.ofHours(1).toNanos();
    new AttemptExecutor(source.hold(job), null, longAgo, host.services).run();
    until(() -> !host.ends.isEmpty());
    assertThat(end().settlement()).isInstanceOf(Settlement.Fail.class);
  }

  @Test
  void an_attempt_that_lost_its_lease_before_it_began_ends_without_a_settlement() {
    long longAgo = System.nanoTime() - Duration.ofHours(1).toNanos();
    new AttemptExecutor(job, null, longAgo, host.services).run();
    assertThat(end()).isEqualTo(new TestHost.End(null, Ack.LEASE_LOST));
    assertThat(host.services.metrics().value(Metrics.DUPLICATE_SKIPS)).isEqualTo(1);
    assertThat(source.calls("settle")).isZero();
  }

  @Test
  void secrets_are_redacted_in_the_texts_of_failures_and_in_log_lines() {
    Failure failure =
        failureOf(
            (payload, context) -> {
              context.log("the key is " + Samples.SECRET);
              throw new IllegalStateException("the key was " + Samples.SECRET);
            });
    assertThat(failure.toString()).contains("the key was ***").doesNotContain(Samples.SECRET);
    assertThat(source.allReported()).contains(new Report.Log(job.lease(), 1, "the key is ***\n"));
  }

  @Test
  void a_handler_that_catches_a_hard_reset_gets_no_further_before_it_begins_again() {
    List<String> ran = new CopyOnWriteArrayList<>();
    TestHost.End end =
        end(
            host.run(
                job,
                (payload, context) -> {
                  try {
                    context.step("flaky", () -> fail(ran));
                  } catch (Throwable caught) {
                    ran.add("caught");
                  }
                  context.step("next", () -> ran.add("next"));
                  return null;
                }));
    assertThat(end.settlement()).isEqualTo(new Settlement.Succeed(job.lease(), null));
    assertThat(ran).containsExactly("flaky", "flaky", "caught", "flaky", "next");
  }

  /** Twice alike, which is no progress: then a hard reset follows. */
  private static void fail(List<String> ran) {
    ran.add("flaky");
    if (ran.size() <= 2) {
      throw new IllegalStateException("the index is locked");
    }
  }
}
