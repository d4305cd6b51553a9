package dev.holdfast.spring;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.schedule.Cron;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.value.Json;
import java.time.ZoneId;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.springframework.boot.convert.DurationStyle;

/** Makes a schedule of a {@link JobSchedule}. */
final class DeclaredSchedules {
  private final UnaryOperator<String> placeholders;

  /**
   * @param placeholders replaces those in a text by their values
   */
  DeclaredSchedules(UnaryOperator<String> placeholders) {
    this.placeholders = placeholders;
  }

  /** Empty where it is switched off. */
  Optional<Schedule> of(String kind, JobSchedule marked) {
    String cron = placeholders.apply(marked.cron());
    String every = placeholders.apply(marked.every());
    if (cron.equals(JobSchedule.OFF)) {
      return Optional.empty();
    }
    if (cron.isEmpty() == every.isEmpty()) {
      throw new IllegalStateException(
          "@JobSchedule of '%s' needs either cron or every".formatted(kind));
    }
    Schedule schedule =
        new Schedule(
            marked.name().isEmpty() ? kind : placeholders.apply(marked.name()),
            cron.isEmpty() ? Cron.every(DurationStyle.detectAndParse(every)) : Cron.parse(cron),
            ZoneId.of(placeholders.apply(marked.zone())),
            Job.of(kind, new Json(placeholders.apply(marked.payload()))),
            marked.missedFires(),
            marked.overlap());
    return Optional.of(schedule);
  }
}
