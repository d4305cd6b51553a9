package dev.holdfast.operate;

import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.resource.InfoResource;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.operate.diagnosis.Diagnosis;
import dev.holdfast.operate.diagnosis.ProblemText;
import dev.holdfast.queue.JobStore;
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
  static Operator.Health of(JobStore store, Duration reapGrace, String program) {
    WorkerFleet fleet = store.workers().readings().fleet(null);
    @Nullable Pause paused = store.admin().workersPause().orElse(null);
    List<InfoResource.Problem> problems =
        Diagnosis.of(
                new Diagnosis.Facts(
                    store.admin().queues(),
                    fleet,
                    store.queries().warnings(null, reapGrace),
                    store.admin().schedules(),
                    Set.of()))
            .stream()
            .map(HealthCheck::problem)
            .toList();
    DatabaseVersion version = store.version();
    return new Operator.Health(
        "holdfast %s on PostgreSQL %s, schema %d"
            .formatted(program, version.server(), version.schema()),
        new Operator.Workers(paused, fleet.all()),
        problems);
  }

  private static InfoResource.Problem problem(Finding finding) {
    ProblemText text = ProblemText.of(finding);
    return new InfoResource.Problem(
        finding.code(), finding.parameters(), text.message(), text.httpHint());
  }
}
