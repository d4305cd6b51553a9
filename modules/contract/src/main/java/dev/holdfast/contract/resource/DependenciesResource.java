package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.JobDependencies;
import java.util.List;

/**
 * The jobs around one job.
 *
 * @param dependsOn those that must end before it runs
 * @param dependents those that run after it has ended
 */
public record DependenciesResource(List<Related> dependsOn, List<Related> dependents) {
  public DependenciesResource {
    dependsOn = List.copyOf(Wire.present("dependsOn", dependsOn));
    dependents = List.copyOf(Wire.present("dependents", dependents));
  }

  /** One of them. */
  public record Related(JobId id, String kind, String queue, String tenant, JobState state) {
    private static Related of(JobDependencies.Related job) {
      return new Related(job.id(), job.kind(), job.queue(), job.tenant(), job.state());
    }

    private JobDependencies.Related related() {
      return new JobDependencies.Related(id, kind, queue, tenant, state);
    }
  }

  public static DependenciesResource of(JobDependencies dependencies) {
    return new DependenciesResource(
        dependencies.dependsOn().stream().map(Related::of).toList(),
        dependencies.dependents().stream().map(Related::of).toList());
  }

  public JobDependencies dependencies() {
    return new JobDependencies(
        dependsOn.stream().map(Related::related).toList(),
        dependents.stream().map(Related::related).toList());
  }
}
