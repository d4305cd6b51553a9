package dev.holdfast.queue.sql;

import dev.holdfast.model.job.JobState;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The states from which a verb moves jobs, and those it moves them to. Every statement that changes
 * a state takes its condition and its assignment from here, and here they are checked against the
 * table of {@link JobState}: a verb that declares a transition which the table does not allow
 * cannot be loaded.
 */
public final class Transition {
  private final Set<JobState> from;
  private final Set<JobState> to;

  private Transition(Set<JobState> from, Set<JobState> to) {
    this.from = from;
    this.to = to;
  }

  /** The states a transition begins at. */
  public record From(Set<JobState> states) {
    public Transition to(JobState... next) {
      Set<JobState> to = EnumSet.copyOf(Arrays.asList(next));
      for (JobState one : states) {
        for (JobState other : to) {
          if (!one.mayBecome(other)) {
            throw new IllegalArgumentException(one + " may not become " + other);
          }
        }
      }
      return new Transition(states, to);
    }
  }

  public static From from(JobState... states) {
    return new From(EnumSet.copyOf(Arrays.asList(states)));
  }

  /** From every state that may become this one, except for some. */
  public static Transition toFromAllBut(JobState to, JobState... exceptions) {
    Set<JobState> from = EnumSet.noneOf(JobState.class);
    Arrays.stream(JobState.values()).filter(state -> state.mayBecome(to)).forEach(from::add);
    from.removeAll(Arrays.asList(exceptions));
    return new From(from).to(to);
  }

  /** That a row is in one of the states this begins at. */
  public String isFrom(String row) {
    return isIn(row + ".state", from);
  }

  /** That an expression is one of these states. */
  public static String isIn(String state, Collection<JobState> states) {
    return states.size() == 1
        ? "%s = '%s'".formatted(state, states.iterator().next())
        : states.stream()
            .map(each -> "'" + each + "'")
            .collect(Collectors.joining(", ", state + " IN (", ")"));
  }

  /** The assignments that move a job {@code j} to the one state this leads to. */
  public String set() {
    if (to.size() != 1) {
      throw new IllegalStateException("which of " + to + "?");
    }
    return set("'" + to.iterator().next() + "'");
  }

  /** The same for a job that gives up its unique key, whatever states it was to be held in. */
  public String setWithoutKey() {
    return "state = '%s', unique_states = 0".formatted(only());
  }

  private JobState only() {
    if (to.size() != 1 || from.contains(JobState.WAITING)) {
      throw new IllegalStateException("which of " + to + "?");
    }
    return to.iterator().next();
  }

  /**
   * The assignments that move a job {@code j}; one that waited then waits for nothing.
   *
   * @param next an expression that is one of the states this leads to
   */
  public String set(String next) {
    return "state = %1$s, unique_states = holdfast.unique_after(j.unique_states, %1$s)%2$s"
        .formatted(
            next,
            from.contains(JobState.WAITING)
                ? ", wait_sort = NULL, wake_at = NULL, wait = NULL"
                : "");
  }
}
