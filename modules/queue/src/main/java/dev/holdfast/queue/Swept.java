package dev.holdfast.queue;

import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** What a sweep did: the jobs it put back, and those it ended. */
public record Swept(List<JobId> requeued, List<JobId> ended, Set<String> requeuedIn) {
  static Swept of(List<Reap.Reaped> reaped) {
    return new Swept(
        reaped.stream().filter(r -> !r.state().isTerminal()).map(Reap.Reaped::job).toList(),
        reaped.stream().filter(r -> r.state().isTerminal()).map(Reap.Reaped::job).toList(),
        reaped.stream()
            .filter(r -> r.state() == JobState.PENDING)
            .map(Reap.Reaped::queue)
            .collect(Collectors.toSet()));
  }
}
