package dev.holdfast.app;

import dev.holdfast.contract.Control;
import dev.holdfast.model.Crew;
import dev.holdfast.model.DatabaseVersion;
import dev.holdfast.model.Diagnosis;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an operator should know, as the database shows it. */
final class Checkup {
  private Checkup() {}

  /**
   * @param reapGrace of those who take leases back
   */
  static Control.Health of(Queue queue, Duration reapGrace) {
    Crew crew = queue.crew(null);
    @Nullable Instant paused = queue.allPausedSince().orElse(null);
    List<Control.Health.Trouble> problems =
        Diagnosis.of(
                new Diagnosis.Facts(
                    queue.queues(),
                    crew,
                    queue.warnings(null, reapGrace),
                    queue.schedules(),
                    Set.of(),
                    paused))
            .stream()
            .map(f -> new Control.Health.Trouble(f.code(), f.what(), f.doNext()))
            .toList();
    DatabaseVersion version = queue.version();
    return new Control.Health(
        "holdfast %s on PostgreSQL %s, schema %d"
            .formatted(Version.text(), version.server(), version.schema()),
        new Control.Workers(paused, crew.all()),
        problems);
  }
}
