package dev.holdfast.contract.operate;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The jobs that a verb changes, {@link JobFilter#MOST} at a time. What is answered for a filter
 * says where the next ones begin.
 */
public sealed interface Selection {
  /** These jobs. */
  record Ids(List<JobId> ids) implements Selection {
    public Ids {
      ids = ids.stream().distinct().toList();
    }
  }

  /**
   * Jobs that match a filter.
   *
   * @param after where those before stopped; null to begin with
   */
  record Matching(JobFilter filter, @Nullable JobCursor after) implements Selection {}

  /** What can be done to many jobs, and to which of them. */
  @SuppressWarnings("ImmutableEnumChecker") // The sets are copies that do not change.
  enum Verb {
    CANCEL(JobState.ACTIVE, JobState.ACTIVE, "jobs that have ended cannot be cancelled"),
    RETRY(
        EnumSet.of(JobState.FAILED),
        JobState.RETRYABLE,
        "only FAILED and CANCELLED jobs can be retried");

    private final Set<JobState> unlessGiven;
    private final Set<JobState> possible;
    private final String others;

    Verb(Set<JobState> unlessGiven, Set<JobState> possible, String others) {
      this.unlessGiven = Set.copyOf(unlessGiven);
      this.possible = Set.copyOf(possible);
      this.others = others;
    }

    /** A filter with the states to which this can be done; others are refused. */
    public JobFilter of(JobFilter chosen) {
      if (chosen.states().isEmpty()) {
        return chosen.states(unlessGiven);
      }
      if (!possible.containsAll(chosen.states())) {
        throw new OperatorException(OperatorException.Reason.INVALID_VALUE, others);
      }
      return chosen;
    }
  }
}
