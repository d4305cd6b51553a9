package dev.holdfast.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What is tried when a step fails or hangs. */
class StepLoopTest extends StepLoopFixture {
  @Test
  void a_step_that_succeeds_runs_once_and_stores_its_checkpoint() throws Exception {
    assertThat(done(loop().run(step(() -> "made"), budgets))).isEqualTo("made");
    assertThat(journal.events()).containsExactly("resume.from_step", "started", "finished");
    Report.Step last = journal.lines.getLast();
    assertThat(last.state()).isEqualTo(StepState.DONE);
    assertThat(last.attempt()).isEqualTo(5);
    assertThat(last.checkpoint()).isEqualTo(new Json("\"made\""));
    assertThat(journal.counted)
        .containsExactly(StepLoop.DURATION + "{class=none, strategy=none, outcome=done}");
  }

  @Test
  void a_transient_failure_is_retried_with_a_soft_reset_and_counted() throws Exception {
    Step<String> flaky =
        step(
            () -> {
              if (tries.get() == 1) {
                throw new IllegalStateException("connection reset, password=" + SECRET);
              }
              return "made";
            });
    assertThat(done(loop().run(flaky, budgets))).isEqualTo("made");
    assertThat(journal.events())
        .containsExactly(
            "resume.from_step", "started", "failed", "self_heal.triggered", "started", "finished");
    assertThat(journal.data(EventType.HEAL_TRIGGERED))
        .containsEntry("stepId", "embed")
        .containsEntry("stepIndex", 2)
        .containsEntry("attempt", 5)
        .containsEntry("failureClass", "transient_runtime")
        .containsEntry("strategy", "soft_reset")
        .containsKey("failureSignature");
    assertThat(journal.lines.toString()).doesNotContain(SECRET);
    assertThat(journal.counted)
        .contains(
            StepLoop.ATTEMPTS + "{class=transient_runtime, strategy=soft_reset, outcome=recovered}",
            StepLoop.RECOVERED + "{class=transient_runtime, strategy=soft_reset}");
    assertThat(resets).hasValue(0);
    Step.Failed told = Objects.requireNonNull(retries.getLast().last());
    assertThat(told.summary()).contains("connection reset").doesNotContain(SECRET);
    assertThat(retries.getLast().attempt()).isEqualTo(6);
  }

  @Test
  void a_repeated_equal_failure_is_reset_and_then_requeued() {
    assertThatThrownBy(
            () ->
                loop()
                    .run(
                        step(
                            () -> {
                              throw new IllegalStateException("row " + tries.get() + " is missing");
                            }),
                        budgets))
        .isInstanceOfSatisfying(
            FailedException.class,
            failed -> {
              assertThat(failed.failure().retryable()).isTrue();
              assertThat(failed.failure().code()).isEqualTo("STUCK_NO_PROGRESS");
            });
    assertThat(tries).hasValue(4);
    assertThat(resets).hasValue(1);
    assertThat(journal.events())
        .containsExactly(
            "resume.from_step",
            "started",
            "failed",
            "self_heal.triggered",
            "started",
            "failed",
            "self_heal.escalated",
            "resume.from_step",
            "started",
            "failed",
            "self_heal.triggered",
            "started",
            "failed",
            "self_heal.exhausted");
    assertThat(journal.lines.stream().filter(Report.Step::reset)).hasSize(1);
    assertThat(journal.counted)
        .contains(
            StepLoop.NO_PROGRESS + "{class=stuck_no_progress, strategy=hard_reset}",
            StepLoop.NO_PROGRESS + "{class=stuck_no_progress, strategy=queue_retry}",
            StepLoop.ATTEMPTS
                + "{class=stuck_no_progress, strategy=queue_retry, outcome=exhausted}",
            StepLoop.EXHAUSTED + "{class=stuck_no_progress, strategy=queue_retry}");
  }

  @Test
  void a_step_healed_after_equal_failures_counts_with_the_class_and_strategy_of_the_decision()
      throws Exception {
    Step<String> stuck =
        step(
            () -> {
              if (tries.get() <= 2) {
                throw new IllegalStateException("the index is locked");
              }
              return "made";
            });
    assertThat(done(loop().run(stuck, budgets))).isEqualTo("made");
    assertThat(resets).hasValue(1);
    assertThat(journal.counted)
        .contains(
            StepLoop.ATTEMPTS + "{class=transient_runtime, strategy=soft_reset, outcome=failed}",
            StepLoop.ATTEMPTS + "{class=stuck_no_progress, strategy=hard_reset, outcome=recovered}",
            StepLoop.RECOVERED + "{class=stuck_no_progress, strategy=hard_reset}",
            StepLoop.DURATION + "{class=stuck_no_progress, strategy=hard_reset, outcome=done}")
        .filteredOn(metric -> metric.startsWith(StepLoop.RECOVERED))
        .hasSize(1);
    Step.Failed told = Objects.requireNonNull(retries.getLast().last());
    assertThat(told.attempt().failureClass()).isEqualTo(FailureClass.STUCK_NO_PROGRESS);
  }

  @Test
  void the_job_resumes_from_a_step_once_after_another_attempt_and_once_after_a_reset()
      throws Exception {
    Step<String> stuck =
        step(
            () -> {
              if (tries.get() <= 2) {
                throw new IllegalStateException("the index is locked");
              }
              return "made";
            });
    StepLoop loop = loop();
    loop.run(stuck, budgets);
    loop.run(stuck, budgets);
    assertThat(journal.all(EventType.RESUME_FROM_STEP))
        .extracting(data -> data.get("strategy"))
        .containsExactly("queue_retry", "hard_reset");
    assertThat(journal.all(EventType.RESUME_FROM_STEP).getLast())
        .containsEntry("stepId", "embed")
        .containsEntry("attempt", 6);
  }

  @Test
  void a_hard_reset_without_a_workspace_is_left_to_the_caller() throws Exception {
    StepLoop loop = loop();
    Step<String> stuck =
        step(
            () -> {
              if (tries.get() <= 2) {
                throw new IllegalStateException("the index is locked");
              }
              return "made";
            },
            false);
    assertThat(loop.run(stuck, budgets)).isEqualTo(new StepEnd.CallAgain<String>());
    assertThat(journal.events()).endsWith("failed", "self_heal.escalated");
    assertThat(done(loop.run(stuck, budgets))).isEqualTo("made");
    assertThat(journal.all(EventType.RESUME_FROM_STEP).getLast())
        .containsEntry("strategy", "hard_reset");
  }

  @Test
  void a_deterministic_failure_fails_at_once_with_its_reason() {
    assertThatThrownBy(
            () ->
                loop()
                    .run(
                        step(
                            () -> {
                              throw new StepException(
                                  FailureClass.DETERMINISTIC_POLICY, "not on a Sunday");
                            }),
                        budgets))
        .isInstanceOfSatisfying(
            FailedException.class, failed -> assertThat(failed.failure().retryable()).isFalse());
    assertThat(tries).hasValue(1);
    assertThat(journal.events())
        .containsExactly("resume.from_step", "started", "failed", "self_heal.exhausted");
    assertThat(journal.data(EventType.HEAL_EXHAUSTED))
        .containsEntry("failureClass", "deterministic_policy")
        .containsEntry("strategy", "fail");
  }

  @Test
  void a_step_that_hangs_is_stopped_and_retried() throws Exception {
    budgets = new Budgets(3, LONG, Duration.ofSeconds(2), 2, 1);
    Step<String> hanging =
        step(
            () -> {
              if (tries.get() == 1) {
                new CountDownLatch(1).await();
              }
              return "made";
            });
    assertThat(done(loop().run(hanging, budgets))).isEqualTo("made");
    assertThat(journal.counted)
        .contains(
            StepLoop.IDLE_TIMEOUTS + "{class=stuck_no_progress, strategy=soft_reset}",
            StepLoop.DURATION + "{class=stuck_no_progress, strategy=soft_reset, outcome=failed}",
            StepLoop.DURATION + "{class=stuck_no_progress, strategy=soft_reset, outcome=done}");
    assertThat(journal.data(EventType.STEP_FAILED))
        .containsEntry("failureClass", "stuck_no_progress");
  }

  @Test
  void a_step_that_stays_active_is_stopped_by_its_timeout() throws Exception {
    budgets = new Budgets(3, Duration.ofSeconds(4), Duration.ofSeconds(3), 2, 1);
    StepLoop loop = loop();
    Step<String> busy =
        step(
            () -> {
              while (tries.get() == 1) {
                loop.alive();
                Thread.sleep(1);
              }
              return "made";
            });
    assertThat(done(loop.run(busy, budgets))).isEqualTo("made");
    assertThat(journal.counted)
        .contains(StepLoop.WALL_TIMEOUTS + "{class=stuck_no_progress, strategy=soft_reset}")
        .noneMatch(metric -> metric.startsWith(StepLoop.IDLE_TIMEOUTS));
  }

  @Test
  void activity_of_an_abandoned_attempt_does_not_count_for_the_next_one() throws Exception {
    budgets = new Budgets(3, LONG, Duration.ofMillis(100), 5, 1);
    CountDownLatch end = new CountDownLatch(1);
    StepLoop loop = loop();
    List<String> results = new ArrayList<>();
    Step<String> stubborn =
        step(
            () -> {
              int mine = tries.get();
              if (mine == 1) {
                while (end.getCount() > 0) {
                  if (tries.get() > 1) {
                    loop.alive();
                  }
                  boolean ignored = Thread.interrupted();
                  LockSupport.parkNanos(ignored ? 2 : 1_000);
                }
              }
              if (mine == 2) {
                // Idle: the activity of the first attempt must not count for it.
                new CountDownLatch(1).await();
              }
              return "made by " + mine;
            });
    try {
      results.add(done(loop.run(stubborn, budgets)));
    } finally {
      end.countDown();
    }
    // By the third, or on a busy machine by a later one that was not idle for so long.
    assertThat(results).hasSize(1).doesNotContain("made by 1", "made by 2");
    assertThat(journal.data(EventType.STEP_FAILED).toString()).contains("ignored being stopped");
  }
}
