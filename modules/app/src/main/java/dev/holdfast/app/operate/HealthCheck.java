package dev.holdfast.app.operate;

import dev.holdfast.app.cli.Version;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.model.diagnosis.Diagnosis;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an operator should know, as the database shows it. */
final class HealthCheck {
  private HealthCheck() {}

  /**
   * @param reapGrace of those who take leases back
   */
  static Operator.Health of(Queue queue, Duration reapGrace) {
    WorkerFleet crew = queue.crew(null);
    @Nullable Instant paused = queue.allPausedSince().orElse(null);
    List<Operator.Health.Trouble> problems =
        Diagnosis.of(
                new Diagnosis.Facts(
                    queue.queues(),
                    crew,
                    queue.warnings(null, reapGrace),
                    queue.schedules(),
                    Set.of(),
                    paused))
            .stream()
            .map(f -> new Operator.Health.Trouble(f.code(), f.what(), f.doNext()))
            .toList();
    DatabaseVersion version = queue.version();
    return new Operator.Health(
        "holdfast %s on PostgreSQL %s, schema %d"
            .formatted(Version.text(), version.server(), version.schema()),
        new Operator.Workers(paused, crew.all()),
        problems);
  }
}
