package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.Finding;
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
    return Finding.of(
            "supervisor_silent",
            "supervisor '%s' has stopped reporting, and so have its workers: %s"
                .formatted(
                    name,
                    own.stream()
                        .map(WorkerHealth::component)
                        .limit(MOST_NAMES)
                        .collect(Collectors.joining(", "))),
            "check its machine, and start it there with 'holdfast supervise'; the jobs of its workers"
                + " are requeued when their leases expire")
        .with(Finding.SUPERVISOR, name)
        .with("workers", own.size());
  }
}
