package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.util.List;
import java.util.stream.Stream;

/** A schedule cannot be fired, or was due and was not fired. */
final class ScheduleRules implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    return situation.facts().schedules().stream()
        .filter(schedule -> schedule.pausedAt() == null)
        .flatMap(schedule -> check(situation, schedule))
        .toList();
  }

  private static Stream<Finding> check(Situation situation, ScheduleStatus schedule) {
    if (schedule.fireError() != null) {
      return Stream.of(
          Finding.of(ProblemCode.SCHEDULE_BROKEN)
              .with(Finding.SCHEDULE, schedule.name())
              .with(Finding.REASON, schedule.fireError()));
    }
    if (schedule.nextFireAt().plus(Situation.CLAIMED_WITHIN).isBefore(situation.workers().now())) {
      return Stream.of(
          Finding.of(ProblemCode.SCHEDULE_OVERDUE)
              .with(Finding.SCHEDULE, schedule.name())
              .with(Finding.SINCE, schedule.nextFireAt()));
    }
    return Stream.empty();
  }
}
