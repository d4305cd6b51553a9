package dev.holdfast.model.search;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a run and how they hang together.
 *
 * @param jobs in the order of their ids, {@link #MOST} at most
 * @param dependencies between these jobs
 */
public record RunGraph(RunSummary run, List<Node> jobs, List<Edge> dependencies) {
  public static final int MOST = 500;

  public RunGraph {
    jobs = List.copyOf(jobs);
    dependencies = List.copyOf(dependencies);
  }

  /**
   * A job of the run.
   *
   * @param runKey its name within the run
   * @param failureCode of its last failure
   */
  public record Node(
      JobId id,
      String kind,
      String runKey,
      String queue,
      JobState state,
      int attempt,
      @Nullable Integer progress,
      @Nullable JobId parentId,
      Instant createdAt,
      @Nullable Instant startedAt,
      @Nullable Instant finishedAt,
      @Nullable String failureCode) {}

  /** One job waits for another. */
  public record Edge(JobId jobId, JobId dependsOnId) {}
}
