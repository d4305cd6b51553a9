package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.WorkerHealth;
import java.util.List;
import java.util.stream.Collectors;

/** A supervisor has stopped reporting. Its workers are not reported one by one. */
final class SilentSupervisorRule implements Rule {
  private static final int MOST_NAMES = 10;

  @Override
  public List<Finding> check(Situation situation) {
    return situation.silentSupervisors().stream()
        .sorted()
        .map(name -> finding(situation, name))
        .toList();
  }

  private static Finding finding(Situation situation, String name) {
    List<WorkerHealth> own =
        situation.workers().processes().stream()
            .filter(row -> row.supervisor().equals(name))
            .toList();
    own.forEach(row -> situation.explain(row.queue()));
    return Finding.of(ProblemCode.SUPERVISOR_SILENT)
        .with(Finding.SUPERVISOR, name)
        .with(Finding.WORKERS, own.size())
        .with(
            Finding.WORKER_NAMES,
            own.stream()
                .map(WorkerHealth::component)
                .limit(MOST_NAMES)
                .collect(Collectors.joining(", ")));
  }
}
