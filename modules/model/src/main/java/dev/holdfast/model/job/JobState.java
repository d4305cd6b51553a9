package dev.holdfast.model.job;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** The state of a job. The table below has all transitions. */
public enum JobState {
  WAITING(1),
  PENDING(2),
  RUNNING(4),
  RETRYING(8),
  SUCCEEDED(16),
  FAILED(32),
  CANCELLED(64);

  /** Nothing happens to a job in one of these by itself. */
  public static final Set<JobState> TERMINAL =
      Collections.unmodifiableSet(EnumSet.of(SUCCEEDED, FAILED, CANCELLED));

  /** All others. */
  public static final Set<JobState> ACTIVE =
      Collections.unmodifiableSet(EnumSet.complementOf(EnumSet.copyOf(TERMINAL)));

  /** The states of jobs that an operator may retry. */
  public static final Set<JobState> RETRYABLE =
      Collections.unmodifiableSet(EnumSet.of(FAILED, CANCELLED));

  private static final Map<JobState, Set<JobState>> NEXT = new EnumMap<>(JobState.class);

  static {
    // FAILED without having run: the job's deadline passed, or what it depends on failed.
    NEXT.put(WAITING, EnumSet.of(PENDING, FAILED, CANCELLED));
    NEXT.put(PENDING, EnumSet.of(RUNNING, FAILED, CANCELLED));
    NEXT.put(RUNNING, EnumSet.of(WAITING, PENDING, RETRYING, SUCCEEDED, FAILED, CANCELLED));
    NEXT.put(RETRYING, EnumSet.of(PENDING, FAILED, CANCELLED));
    // Only by an operator's resume_from_step.
    NEXT.put(SUCCEEDED, EnumSet.of(PENDING));
    // Only by an operator's retry or resume_from_step.
    NEXT.put(FAILED, EnumSet.of(PENDING));
    NEXT.put(CANCELLED, EnumSet.of(PENDING));
  }

  private final int bit;

  JobState(int bit) {
    this.bit = bit;
  }

  /** The states that may follow. */
  public Set<JobState> next() {
    return Set.copyOf(NEXT.getOrDefault(this, Set.of()));
  }

  /** Whether that state may follow. */
  public boolean mayBecome(JobState next) {
    return NEXT.getOrDefault(this, Set.of()).contains(next);
  }

  /** Whether the job has ended. */
  public boolean isTerminal() {
    return TERMINAL.contains(this);
  }

  /** This state's bit in a stored set of states; the schema knows the same numbers. */
  public int bit() {
    return bit;
  }

  public static int bits(Set<JobState> states) {
    return states.stream().mapToInt(JobState::bit).reduce(0, (a, b) -> a | b);
  }
}
