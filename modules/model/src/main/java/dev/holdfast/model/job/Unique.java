package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * At most one job of a kind with this key.
 *
 * <p>The key is held from the enqueue until the job first leaves {@code states} or {@code window}
 * has passed, whichever comes first; a job never takes a key back, so no retry or requeue can
 * collide with a job that took the key meanwhile.
 */
public record Unique(String key, Set<JobState> states, @Nullable Duration window) {
  public Unique {
    Limits.key("uniqueKey", key);
    states = Set.copyOf(states);
    if (!states.contains(JobState.PENDING)) {
      throw new RefusedException(
          Refusal.BAD_UNIQUE, "uniqueKey '" + key + "': its states must include PENDING");
    }
    if (window != null
        && (window.toDays() > Limits.DELAY_DAYS || window.compareTo(Duration.ofMillis(1)) < 0)) {
      throw new RefusedException(
          Refusal.BAD_UNIQUE,
          "uniqueKey '" + key + "': its time window must be positive, and a century at most");
    }
  }

  /** Until the job has ended. */
  public static Unique by(String key) {
    return new Unique(key, JobState.ACTIVE, null);
  }

  /** The states in which the key counts; those that are not terminal unless given. */
  public Unique in(Set<JobState> newStates) {
    return new Unique(key, newStates, window);
  }

  /** How long the key counts at most. */
  public Unique within(Duration newWindow) {
    return new Unique(key, states, newWindow);
  }
}
