package dev.holdfast;

import dev.holdfast.model.job.JobState;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * How long ended jobs are kept, by the state they ended in. Jobs of a state that is not named are
 * kept for ever.
 *
 * <pre>{@code
 * JobRetention.NONE
 *     .keep(JobState.SUCCEEDED, Duration.ofDays(7))
 *     .keep(JobState.FAILED, Duration.ofDays(90))
 * }</pre>
 */
public record JobRetention(Map<JobState, Duration> ages) {
  /** Deletes nothing. */
  public static final JobRetention NONE = new JobRetention(Map.of());

  public JobRetention {
    ages = Map.copyOf(ages);
    ages.forEach(
        (state, age) -> {
          if (!state.isTerminal()) {
            throw new IllegalArgumentException(
                "retention of "
                    + state
                    + ": only jobs that have ended are deleted, so name one of "
                    + JobState.TERMINAL);
          }
          if (age.isNegative()) {
            throw new IllegalArgumentException(
                "retention of %s is %s: it must be zero or more".formatted(state, age));
          }
        });
  }

  /** The same policy, with jobs of this state kept for this long after they ended. */
  public JobRetention keep(JobState state, Duration age) {
    Map<JobState, Duration> more = new EnumMap<>(JobState.class);
    more.putAll(ages);
    more.put(state, age);
    return new JobRetention(more);
  }
}
