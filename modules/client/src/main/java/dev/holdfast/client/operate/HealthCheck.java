package dev.holdfast.client.operate;

import dev.holdfast.model.diagnosis.Diagnosis;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Versions, workers and problems, as the database shows them. */
final class HealthCheck {
  private HealthCheck() {}

  /**
   * @param reapGrace how long after its expiry a lease is reaped
   * @param program the version of this program
   */
  static Operator.Health of(Queue queue, Duration reapGrace, String program) {
    WorkerFleet fleet = queue.workers().readings().fleet(null);
    @Nullable Pause paused = queue.admin().workersPause().orElse(null);
    List<Operator.Health.Problem> problems =
        Diagnosis.of(
                new Diagnosis.Facts(
                    queue.admin().queues(),
                    fleet,
                    queue.queries().warnings(null, reapGrace),
                    queue.admin().schedules(),
                    Set.of()))
            .stream()
            .map(Operator.Health.Problem::of)
            .toList();
    DatabaseVersion version = queue.version();
    return new Operator.Health(
        "holdfast %s on PostgreSQL %s, schema %d"
            .formatted(program, version.server(), version.schema()),
        new Operator.Workers(paused, fleet.all()),
        problems);
  }
}
