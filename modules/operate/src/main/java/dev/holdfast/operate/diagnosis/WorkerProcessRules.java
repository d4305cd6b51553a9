package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.WorkerHealth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Applies the rules about one worker process to each of those whose supervisor reports. */
final class WorkerProcessRules implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    Map<WorkerHealth, Holder> held = situation.workers().held();
    List<Finding> found = new ArrayList<>();
    situation.workers().processes().stream()
        .filter(row -> !situation.silentSupervisors().contains(row.supervisor()))
        .forEach(row -> found.addAll(check(situation, row, held.containsKey(row))));
    return found;
  }

  private static List<Finding> check(Situation situation, WorkerHealth row, boolean holdsJobs) {
    List<Finding> found = new ArrayList<>();
    // This one does not explain why jobs wait: the worker runs other jobs.
    found.addAll(WorkerLifeRules.overdueHandler(row));
    List<Finding> explaining =
        switch (row.status()) {
          case STARTING, CRASHED, FAILED -> WorkerLifeRules.check(row);
          case HEALTHY ->
              row.isSilent()
                  ? WorkerLifeRules.check(row)
                  : WorkerIdleRules.check(situation, row, holdsJobs);
          case STOPPING -> WorkerIdleRules.check(situation, row, holdsJobs);
        };
    if (!explaining.isEmpty()) {
      situation.explain(row.queue());
    }
    found.addAll(explaining);
    return found.stream()
        .map(
            each ->
                each.with(Finding.WORKER, row.component())
                    .with(Finding.SUPERVISOR, row.supervisor())
                    .with(Finding.NAME_SHARED, situation.isNameShared(row))
                    .with(Finding.QUEUE, row.queue())
                    .with(Finding.REASON, row.reason()))
        .toList();
  }
}
