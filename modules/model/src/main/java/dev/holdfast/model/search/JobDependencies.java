package dev.holdfast.model.search;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.List;
import java.util.function.Predicate;

/**
 * The jobs around one job.
 *
 * @param dependsOn those that must end before it runs
 * @param dependents those that run after it has ended
 */
public record JobDependencies(List<Related> dependsOn, List<Related> dependents) {
  /** Of each direction, this many at most. */
  public static final int MOST = 200;

  public JobDependencies {
    dependsOn = List.copyOf(dependsOn);
    dependents = List.copyOf(dependents);
  }

  /** One of them. */
  public record Related(JobId id, String kind, String queue, String tenant, JobState state) {}

  public boolean isEmpty() {
    return dependsOn.isEmpty() && dependents.isEmpty();
  }

  public JobDependencies only(Predicate<Related> seen) {
    return new JobDependencies(
        dependsOn.stream().filter(seen).toList(), dependents.stream().filter(seen).toList());
  }

  /** The jobs that it still waits for. */
  public List<Related> waitsFor() {
    return dependsOn.stream().filter(each -> !each.state().isTerminal()).toList();
  }
}
