package dev.holdfast.queue.recover;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What a sweep did: the jobs it requeued, and those it ended. */
public record ReapResult(List<JobId> requeued, List<JobId> ended, Set<String> requeuedIn) {
  public static ReapResult of(List<Reap.Reaped> reaped) {
    return new ReapResult(
        reaped.stream().filter(r -> !r.state().isTerminal()).map(Reap.Reaped::job).toList(),
        reaped.stream().filter(r -> r.state().isTerminal()).map(Reap.Reaped::job).toList(),
        reaped.stream()
            .filter(r -> r.state() == JobState.PENDING)
            .map(Reap.Reaped::queue)
            .collect(Collectors.toSet()));
  }
}
