package dev.holdfast.model.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.JobLimits;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What to change about a job that does not run: {@code JobEdit.NOTHING.priority(0).delay(ZERO)}.
 * What is null stays as it is.
 *
 * @param delay not before this much time has passed on the database's clock
 * @param runAt not before this moment; instead of a delay
 * @param payload in place of the one it has: a record, or anything else the codec can turn into
 *     JSON
 */
public record JobEdit(
    @Nullable Integer priority,
    @Nullable Duration delay,
    @Nullable Instant runAt,
    @Nullable Object payload) {
  /** To begin with. */
  public static final JobEdit NOTHING = new JobEdit(null, null, null, null);

  public JobEdit {
    if (priority != null) {
      JobLimits.priority(priority);
    }
    if (delay != null) {
      Limits.delay("delay", delay);
    }
    if (runAt != null) {
      JobLimits.runAt(runAt);
    }
    if (delay != null && runAt != null) {
      throw new RefusedException(
          Refusal.BAD_DELAY, "a job is due after a delay or at a time, and not both");
    }
  }

  /** From 0, first, to 9, last. */
  public JobEdit priority(int value) {
    return new JobEdit(value, delay, runAt, payload);
  }

  /** Not before this much time has passed; zero makes it due now. */
  public JobEdit delay(Duration value) {
    return new JobEdit(priority, value, null, payload);
  }

  /** Not before this moment. */
  public JobEdit runAt(Instant value) {
    return new JobEdit(priority, null, value, payload);
  }

  /** Another payload, in place of the whole of the one it has. */
  public JobEdit payload(Object value) {
    return new JobEdit(priority, delay, runAt, value);
  }

  /** Whether it would change nothing. */
  public boolean isNothing() {
    return equals(NOTHING);
  }

  /**
   * What became of it.
   *
   * @param state that the job is in
   */
  public record Answer(JobId job, JobState state, Outcome outcome) {}

  /** Whether a job was changed. */
  public enum Outcome {
    EDITED,
    /** A worker has claimed it: nothing was changed. */
    ALREADY_RUNNING,
    /** It has ended: nothing was changed. */
    ALREADY_TERMINAL
  }
}
