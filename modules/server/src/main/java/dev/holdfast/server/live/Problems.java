package dev.holdfast.server.live;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.diagnosis.Diagnosis;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.queue.QueueAdmin;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What is wrong, as the database and this server know it. */
public final class Problems {
  private final JobQueries queries;
  private final QueueAdmin admin;
  private final Predicate<String> waitedFor;
  private final BooleanSupplier deaf;
  private final Timings timings;

  /**
   * @param waitedFor whether somebody waits for jobs of a queue at this server
   * @param deaf whether notifications of the database do not arrive
   */
  public Problems(
      JobQueries queries,
      QueueAdmin admin,
      Predicate<String> waitedFor,
      BooleanSupplier deaf,
      Timings timings) {
    this.queries = queries;
    this.admin = admin;
    this.waitedFor = waitedFor;
    this.deaf = deaf;
    this.timings = timings;
  }

  /** What costs more to look at, and changes less. */
  record Background(Warnings warnings, List<ScheduleStatus> schedules) {}

  /**
   * @param tenant null is all of them
   */
  public Background background(@Nullable String tenant) {
    // Schedules belong to all tenants together.
    return new Background(
        queries.warnings(tenant, timings.reapGrace()),
        tenant == null ? admin.schedules() : List.of());
  }

  public List<Finding> of(List<QueueStatus> queues, WorkerFleet crew, Background background) {
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
                    admin.allPausedSince().orElse(null))));
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
