package dev.holdfast.model.search;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a run, counted.
 *
 * @param kind of its first job
 * @param state of all of them together
 * @param states how many jobs are in each state; states without jobs are left out
 * @param more whether it has more jobs, which were not counted
 * @param finishedAt null until all of them have ended
 */
public record RunSummary(
    JobId id,
    String kind,
    JobState state,
    long jobs,
    Map<JobState, Long> states,
    boolean more,
    Instant createdAt,
    @Nullable Instant startedAt,
    @Nullable Instant finishedAt) {
  public RunSummary {
    Map<JobState, Long> counted = new EnumMap<>(JobState.class);
    counted.putAll(states);
    states = Collections.unmodifiableMap(counted);
  }

  /**
   * A run counts as running while any of its jobs has not ended. One that has ended has failed if
   * any job has, and was cancelled if any was.
   */
  public static JobState stateOf(Map<JobState, Long> states) {
    boolean ended = states.keySet().stream().allMatch(JobState::isTerminal);
    if (ended) {
      return states.containsKey(JobState.FAILED)
          ? JobState.FAILED
          : states.containsKey(JobState.CANCELLED) ? JobState.CANCELLED : JobState.SUCCEEDED;
    }
    boolean begun =
        states.containsKey(JobState.RUNNING)
            || states.keySet().stream().anyMatch(JobState::isTerminal);
    if (begun) {
      return JobState.RUNNING;
    }
    return states.containsKey(JobState.RETRYING) ? JobState.RETRYING : JobState.PENDING;
  }
}
