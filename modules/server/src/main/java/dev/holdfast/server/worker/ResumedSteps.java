package dev.holdfast.server.worker;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.steps.Strategy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Adds to the timeline at which step a job continues: with another attempt, or because an operator
 * wanted its steps dropped from there on. Workers in Java say so themselves; others only report
 * their steps.
 */
final class ResumedSteps {
  private static final int MOST = 100_000;

  private final Predicate<Lease> continues;

  // So that the database is asked once for each attempt.
  private final Cache<Lease, Boolean> begun = Caffeine.newBuilder().maximumSize(MOST).build();

  /**
   * @param continues whether attempts before this one have begun steps, and this one has begun none
   */
  ResumedSteps(Predicate<Lease> continues) {
    this.continues = continues;
  }

  List<Report> told(List<Report> reports) {
    Set<Lease> first = new HashSet<>();
    return reports.stream()
        .map(
            report ->
                report instanceof Report.Step step && step.state() == StepState.RUNNING
                    ? told(step, first)
                    : report)
        .toList();
  }

  /**
   * @param first attempts that begin their first step with these reports
   */
  private Report told(Report.Step step, Set<Lease> first) {
    @Nullable Strategy after = isTold(step) ? null : after(step, first.contains(step.lease()));
    first.add(step.lease());
    if (after == null) {
      return step;
    }
    List<Report.Entry> events = new ArrayList<>();
    events.add(resumed(step, after));
    events.addAll(step.events());
    return step.telling(events);
  }

  private static boolean isTold(Report.Step step) {
    return step.events().stream()
        .anyMatch(event -> event.type().equals(EventType.RESUME_FROM_STEP));
  }

  private @Nullable Strategy after(Report.Step step, boolean hasBegun) {
    if (step.discardFromIndex() != null) {
      return Strategy.HARD_RESET;
    }
    Lease attempt = step.lease();
    boolean mayContinue =
        !hasBegun
            && attempt.attempt() > 1
            && (step.index() > 1 || step.attempt() > 1)
            && begun.getIfPresent(attempt) == null;
    return mayContinue && continues.test(attempt) ? Strategy.QUEUE_RETRY : null;
  }

  private static Report.Entry resumed(Report.Step step, Strategy after) {
    return new Report.Entry(
        EventType.RESUME_FROM_STEP,
        new Json(
            Wire.object()
                .put("stepId", step.stepId())
                .put("stepIndex", step.index())
                // It comes before the attempt that begins there.
                .put("attempt", step.attempt() - 1)
                .put("strategy", after.text())
                .toString()));
  }

  /** Once they are stored: a report that failed is sent again. */
  void stored(List<Report> reports, List<Ack> acks) {
    for (int i = 0; i < acks.size(); i++) {
      if (acks.get(i) == Ack.ACCEPTED
          && reports.get(i) instanceof Report.Step step
          && step.lease().attempt() > 1) {
        begun.put(step.lease(), true);
      }
    }
  }
}
