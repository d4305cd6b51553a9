package dev.holdfast.worker.source;

import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.StepLoop;
import dev.holdfast.worker.steps.Strategy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The series of the counters of steps that can come up. They are shown from the start: an increase
 * from nothing is none to those who compute rates.
 */
final class StepSeries {
  private static final List<FailureClass> RETRYABLE =
      Arrays.stream(FailureClass.values()).filter(FailureClass::isRetryable).toList();

  private StepSeries() {}

  /**
   * @param each gets the name of a counter, and tags
   */
  static void of(BiConsumer<String, Map<String, String>> each) {
    for (FailureClass kind : RETRYABLE) {
      for (Strategy strategy : List.of(Strategy.SOFT_RESET, Strategy.HARD_RESET)) {
        each.accept(StepLoop.RECOVERED, tags(kind, strategy));
        each.accept(StepLoop.ATTEMPTS, tags(kind, strategy, "recovered"));
        each.accept(StepLoop.ATTEMPTS, tags(kind, strategy, "failed"));
      }
    }
    for (FailureClass kind : FailureClass.values()) {
      Strategy end = kind.isRetryable() ? Strategy.QUEUE_RETRY : Strategy.FAIL;
      each.accept(StepLoop.EXHAUSTED, tags(kind, end));
      each.accept(StepLoop.ATTEMPTS, tags(kind, end, "exhausted"));
    }
    FailureClass stuck = FailureClass.STUCK_NO_PROGRESS;
    for (Strategy strategy :
        List.of(Strategy.SOFT_RESET, Strategy.HARD_RESET, Strategy.QUEUE_RETRY)) {
      each.accept(StepLoop.WALL_TIMEOUTS, tags(stuck, strategy));
      each.accept(StepLoop.IDLE_TIMEOUTS, tags(stuck, strategy));
      if (strategy != Strategy.SOFT_RESET) {
        each.accept(StepLoop.NO_PROGRESS, tags(stuck, strategy));
      }
    }
  }

  private static Map<String, String> tags(FailureClass kind, Strategy strategy) {
    return Map.of("class", kind.text(), "strategy", strategy.text());
  }

  private static Map<String, String> tags(FailureClass kind, Strategy strategy, String outcome) {
    return Map.of("class", kind.text(), "strategy", strategy.text(), "outcome", outcome);
  }
}
