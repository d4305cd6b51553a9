package dev.holdfast.queue;

import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to list, newest first.
 *
 * @param states none means all
 * @param before the last id of the page before
 */
public record JobFilter(
    Set<JobState> states,
    @Nullable String queue,
    @Nullable String kind,
    @Nullable JobId before,
    int limit) {
  public static final int MOST = 1_000;
  public static final JobFilter ALL = new JobFilter(Set.of(), null, null, null, 50);

  public JobFilter {
    states = Set.copyOf(states);
    if (limit < 1 || limit > MOST) {
      throw new IllegalArgumentException("limit " + limit + " must lie between 1 and " + MOST);
    }
  }

  public JobFilter states(Set<JobState> value) {
    return new JobFilter(value, queue, kind, before, limit);
  }

  public JobFilter queue(@Nullable String value) {
    return new JobFilter(states, value, kind, before, limit);
  }

  public JobFilter kind(@Nullable String value) {
    return new JobFilter(states, queue, value, before, limit);
  }

  public JobFilter before(@Nullable JobId value) {
    return new JobFilter(states, queue, kind, value, limit);
  }

  public JobFilter limit(int value) {
    return new JobFilter(states, queue, kind, before, value);
  }
}
