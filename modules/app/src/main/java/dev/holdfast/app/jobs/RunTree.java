package dev.holdfast.app.jobs;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.search.RunGraph;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run as a tree. A job that waits for several others has one place all the same: below the one
 * that itself comes last; the others are named beside it.
 */
final class RunTree {
  /**
   * A job in its place.
   *
   * @param indent the lines that lead to it
   * @param alsoAfter the names of the other jobs it waits for
   */
  record Line(RunGraph.Node job, String indent, List<String> alsoAfter) {
    String note(@Nullable String failureCode) {
      String after = alsoAfter.isEmpty() ? "" : "also after " + String.join(", ", alsoAfter);
      if (failureCode == null || failureCode.isEmpty()) {
        return after;
      }
      return after.isEmpty() ? failureCode : failureCode + "; " + after;
    }
  }

  private final Map<JobId, RunGraph.Node> jobs = new LinkedHashMap<>();
  private final Map<JobId, List<JobId>> waitsFor = new HashMap<>();
  private final Map<JobId, Integer> depths = new HashMap<>();
  private final Map<JobId, List<RunGraph.Node>> children = new HashMap<>();
  private final List<Line> lines = new ArrayList<>();

  private RunTree(RunGraph graph) {
    graph.jobs().forEach(job -> jobs.put(job.id(), job));
    graph
        .dependencies()
        .forEach(
            edge ->
                waitsFor
                    .computeIfAbsent(edge.jobId(), unused -> new ArrayList<>())
                    .add(edge.dependsOnId()));
    // A job that waits for nothing stands below the one that enqueued it.
    for (RunGraph.Node job : graph.jobs()) {
      JobId parent = job.parentId();
      if (parent != null && jobs.containsKey(parent) && !waitsFor.containsKey(job.id())) {
        waitsFor.put(job.id(), List.of(parent));
      }
    }
  }

  static List<Line> of(RunGraph graph) {
    RunTree tree = new RunTree(graph);
    List<RunGraph.Node> roots = new ArrayList<>();
    for (RunGraph.Node job : graph.jobs()) {
      JobId last = tree.last(job.id());
      if (last == null) {
        roots.add(job);
      } else {
        tree.children.computeIfAbsent(last, unused -> new ArrayList<>()).add(job);
      }
    }
    roots.forEach(root -> tree.add(root, "", ""));
    return tree.lines;
  }

  private void add(RunGraph.Node job, String indent, String below) {
    JobId last = last(job.id());
    lines.add(
        new Line(
            job,
            indent,
            waitsFor.getOrDefault(job.id(), List.of()).stream()
                .filter(id -> !id.equals(last))
                .map(id -> Objects.requireNonNull(jobs.get(id)).runKey())
                .toList()));
    List<RunGraph.Node> next = children.getOrDefault(job.id(), List.of());
    for (int i = 0; i < next.size(); i++) {
      boolean isLast = i + 1 == next.size();
      add(next.get(i), below + (isLast ? "└─ " : "├─ "), below + (isLast ? "   " : "│  "));
    }
  }

  /** Of those it waits for, the one deepest in the graph; null if it waits for none. */
  private @Nullable JobId last(JobId job) {
    JobId deepest = null;
    for (JobId other : waitsFor.getOrDefault(job, List.of())) {
      if (deepest == null || depth(other) > depth(deepest)) {
        deepest = other;
      }
    }
    return deepest;
  }

  private int depth(JobId job) {
    Integer known = depths.get(job);
    if (known != null) {
      return known;
    }
    int depth = 0;
    for (JobId other : waitsFor.getOrDefault(job, List.of())) {
      depth = Math.max(depth, 1 + depth(other));
    }
    depths.put(job, depth);
    return depth;
  }
}
