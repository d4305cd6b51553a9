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
 * @param forks those that go on from one of its steps
 */
public record JobDependencies(
    List<Related> dependsOn, List<Related> dependents, List<Related> forks) {
  public static final JobDependencies NONE = new JobDependencies(List.of(), List.of(), List.of());

  /** Of each sort, this many at most. */
  public static final int MOST = 200;

  public JobDependencies {
    dependsOn = List.copyOf(dependsOn);
    dependents = List.copyOf(dependents);
    forks = forks == null ? List.of() : List.copyOf(forks);
  }

  /** One of them. */
  public record Related(JobId id, String kind, String queue, String tenant, JobState state) {}

  public boolean isEmpty() {
    return dependsOn.isEmpty() && dependents.isEmpty() && forks.isEmpty();
  }

  public JobDependencies only(Predicate<Related> seen) {
    return new JobDependencies(
        dependsOn.stream().filter(seen).toList(),
        dependents.stream().filter(seen).toList(),
        forks.stream().filter(seen).toList());
  }

  /** The jobs that it still waits for. */
  public List<Related> waitsFor() {
    return dependsOn.stream().filter(each -> !each.state().isTerminal()).toList();
  }
}
