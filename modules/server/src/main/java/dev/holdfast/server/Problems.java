package dev.holdfast.server;

import dev.holdfast.model.Crew;
import dev.holdfast.model.Diagnosis;
import dev.holdfast.model.Finding;
import dev.holdfast.model.QueueStatus;
import dev.holdfast.model.ScheduleStatus;
import dev.holdfast.model.Timings;
import dev.holdfast.model.Warnings;
import dev.holdfast.queue.Queue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What is wrong, as the database and this server know it. */
final class Problems {
  private final Queue queue;
  private final Predicate<String> waitedFor;
  private final BooleanSupplier deaf;
  private final Timings timings;

  /**
   * @param waitedFor whether somebody waits for jobs of a queue at this server
   * @param deaf whether notifications of the database do not arrive
   */
  Problems(Queue queue, Predicate<String> waitedFor, BooleanSupplier deaf, Timings timings) {
    this.queue = queue;
    this.waitedFor = waitedFor;
    this.deaf = deaf;
    this.timings = timings;
  }

  /** What costs more to look at, and changes less. */
  record Background(Warnings warnings, List<ScheduleStatus> schedules) {}

  /**
   * @param tenant null is all of them
   */
  Background background(@Nullable String tenant) {
    // Schedules belong to all tenants together.
    return new Background(
        queue.warnings(tenant, timings.reapGrace()),
        tenant == null ? queue.schedules() : List.of());
  }

  List<Finding> of(List<QueueStatus> queues, Crew crew, Background background) {
    Set<String> waited =
        queues.stream().map(QueueStatus::name).filter(waitedFor).collect(Collectors.toSet());
    List<Finding> found =
        new ArrayList<>(
            Diagnosis.of(
                new Diagnosis.Facts(
                    queues,
                    crew,
                    background.warnings(),
                    background.schedules(),
                    waited,
                    queue.allPausedSince().orElse(null))));
    if (deaf.getAsBoolean()) {
      found.add(
          Finding.of(
              "notifications_lost",
              "notifications do not arrive: new jobs are found by polling, up to a second late",
              "connect to PostgreSQL directly, or through a pooler in session mode"));
    }
    return found;
  }
}
