package dev.holdfast.worker.steps;

import static dev.holdfast.worker.steps.FailureClass.DETERMINISTIC_CONTRACT;
import static dev.holdfast.worker.steps.FailureClass.DETERMINISTIC_POLICY;
import static dev.holdfast.worker.steps.FailureClass.DETERMINISTIC_REPO;
import static dev.holdfast.worker.steps.FailureClass.STUCK_NO_PROGRESS;
import static dev.holdfast.worker.steps.FailureClass.TRANSIENT_RUNTIME;
import static dev.holdfast.worker.steps.Strategy.FAIL;
import static dev.holdfast.worker.steps.Strategy.HARD_RESET;
import static dev.holdfast.worker.steps.Strategy.QUEUE_RETRY;
import static dev.holdfast.worker.steps.Strategy.SOFT_RESET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class StepDecisionTest {
  private static final Duration SOME = Duration.ofMinutes(1);

  /** Failures as words: a class, a signature and a diff, such as "transient a 1". */
  record Case(List<String> failed, int resets, Budgets budgets, Strategy next, FailureClass kind) {}

  private static Case after(
      int resets, Budgets budgets, Strategy next, FailureClass kind, String... failed) {
    return new Case(List.of(failed), resets, budgets, next, kind);
  }

  private static Budgets budgets(int attempts, int alike, int resets) {
    return new Budgets(attempts, SOME, SOME, alike, resets);
  }

  static List<Case> cases() {
    Budgets usual = Budgets.DEFAULT;
    List<Case> cases = new ArrayList<>();
    // Different failures: the attempts of this workspace, then a new one, then the queue.
    cases.add(after(0, usual, SOFT_RESET, TRANSIENT_RUNTIME, "transient a 1"));
    cases.add(after(0, usual, SOFT_RESET, TRANSIENT_RUNTIME, "transient a 1", "transient b 1"));
    cases.add(
        after(
            0,
            usual,
            HARD_RESET,
            TRANSIENT_RUNTIME,
            "transient a 1",
            "transient b 1",
            "transient c 1"));
    cases.add(
        after(
            1,
            usual,
            QUEUE_RETRY,
            TRANSIENT_RUNTIME,
            "transient a 1",
            "transient b 1",
            "transient c 1"));
    // The same failure over the same changes is no progress, whatever it is called.
    cases.add(after(0, usual, HARD_RESET, STUCK_NO_PROGRESS, "transient a 1", "transient a 1"));
    cases.add(after(1, usual, QUEUE_RETRY, STUCK_NO_PROGRESS, "transient a 1", "transient a 1"));
    cases.add(after(0, usual, HARD_RESET, STUCK_NO_PROGRESS, "stuck a 1", "stuck a 1"));
    // Other changes are progress; so is another failure in between.
    cases.add(after(0, usual, SOFT_RESET, TRANSIENT_RUNTIME, "transient a 1", "transient a 2"));
    cases.add(
        after(
            0,
            budgets(5, 2, 1),
            SOFT_RESET,
            TRANSIENT_RUNTIME,
            "transient a 1",
            "transient b 1",
            "transient a 1"));
    cases.add(
        after(
            0, budgets(5, 3, 1), SOFT_RESET, TRANSIENT_RUNTIME, "transient a 1", "transient a 1"));
    cases.add(
        after(
            0,
            budgets(5, 3, 1),
            HARD_RESET,
            STUCK_NO_PROGRESS,
            "transient b 1",
            "transient a 1",
            "transient a 1",
            "transient a 1"));
    cases.add(after(0, usual, SOFT_RESET, STUCK_NO_PROGRESS, "stuck a 1"));
    // Budgets of one, and none.
    cases.add(after(0, budgets(1, 2, 0), QUEUE_RETRY, TRANSIENT_RUNTIME, "transient a 1"));
    cases.add(after(0, budgets(1, 2, 1), HARD_RESET, TRANSIENT_RUNTIME, "transient a 1"));
    cases.add(after(1, budgets(1, 2, 2), HARD_RESET, TRANSIENT_RUNTIME, "transient a 1"));
    cases.add(after(2, budgets(1, 2, 2), QUEUE_RETRY, TRANSIENT_RUNTIME, "transient a 1"));
    // What is deterministic fails at once, with whatever budget.
    for (FailureClass kind :
        List.of(DETERMINISTIC_CONTRACT, DETERMINISTIC_POLICY, DETERMINISTIC_REPO)) {
      cases.add(after(0, usual, FAIL, kind, kind.text() + " a 1"));
      cases.add(after(5, usual, FAIL, kind, "transient a 1", kind.text() + " a 1"));
    }
    return cases;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void depends_only_on_failed_attempts_and_budgets(Case each) {
    List<FailedAttempt> failed = new ArrayList<>();
    for (String words : each.failed()) {
      List<String> parts = List.of(words.split(" ", -1));
      FailureClass kind =
          switch (parts.get(0)) {
            case "transient" -> TRANSIENT_RUNTIME;
            case "stuck" -> STUCK_NO_PROGRESS;
            case String name -> FailureClass.valueOf(name.toUpperCase(java.util.Locale.ROOT));
          };
      failed.add(new FailedAttempt(failed.size() + 1, kind, parts.get(1), parts.get(2)));
    }
    StepDecision decision = StepDecision.after(failed, each.resets(), each.budgets());
    assertThat(decision.strategy()).isEqualTo(each.next());
    assertThat(decision.failureClass()).isEqualTo(each.kind());
    assertThat(decision.because()).isNotBlank();
  }

  /** What is asked, of step "two" of "one", "two", "three". */
  @ParameterizedTest
  @CsvSource({
    "false, false, , , BEGIN",
    "true, false, , , WAIT",
    "false, true, , , WAIT",
    "true, true, , , WAIT",
    "false, false, RETRY_STEP, two, RETRY",
    "false, false, HARD_RESET_STEP, two, HARD_RESET",
    "false, false, RESUME_FROM_STEP, two, HARD_RESET",
    "false, false, RETRY_STEP, one, ELSEWHERE",
    "false, false, RESUME_FROM_STEP, one, ELSEWHERE",
    "false, false, HARD_RESET_STEP, three, BEGIN",
    "false, false, RETRY_STEP, three, BEGIN",
    "true, false, HARD_RESET_STEP, two, WAIT",
    "false, true, RESUME_FROM_STEP, one, WAIT"
  })
  void operator_commands_take_precedence(
      boolean paused,
      boolean takeover,
      @Nullable CommandAction action,
      @Nullable String step,
      StepDecision.Opening opening) {
    PendingCommand.Recovery recovery =
        action == null || step == null
            ? null
            : new PendingCommand.Recovery(action, step, "ada", "why not", Instant.EPOCH);
    assertThat(
            StepDecision.before(
                new PendingCommand(paused, takeover, recovery, null), "two", "one"::equals))
        .isEqualTo(opening);
  }

  @Test
  void invalid_budgets_are_refused() {
    assertThatThrownBy(() -> budgets(0, 2, 1)).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> budgets(1, 1, 1)).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> budgets(1, 2, -1)).isInstanceOf(RefusedException.class);
    assertThatThrownBy(() -> new Budgets(1, Duration.ZERO, SOME, 2, 1))
        .hasMessageContaining("step_timeout_seconds");
    assertThatThrownBy(() -> new Budgets(1, SOME, Duration.ZERO, 2, 1))
        .hasMessageContaining("step_idle_timeout_seconds");
  }
}
