package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.request.JobRequest;
import dev.holdfast.model.attempt.ChildEnd;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that a task starts, once: whichever attempt starts jobs under the same id again gets those
 * that are there.
 *
 * @param startedAs the id under which they are started
 * @param jobs without ids, which follow from the task
 * @param version of the handler: a task that has none keeps it
 */
public record TaskChildren(
    int attempt,
    @Nullable String attemptId,
    String startedAs,
    List<JobRequest> jobs,
    @Nullable Integer version) {
  /** So many at once. */
  public static final int MOST = 1_000;

  public TaskChildren {
    Fields.attempt(attempt);
    Fields.version(version);
    Wire.present("startedAs", startedAs);
    jobs = Fields.list("jobs", jobs, MOST);
  }

  /** The jobs, with ids that mean nothing. */
  public List<Job> asked() {
    return Fields.each(
        "jobs",
        jobs,
        request -> {
          if (request.id() != null) {
            throw Fields.wrong("id", "follows from the task that starts the job");
          }
          return request.job(Job.DEFAULT_OWNER);
        });
  }

  /**
   * What it is answered.
   *
   * @param jobs their ids, in the order of the jobs
   */
  public record Answer(List<JobId> jobs, Instant serverTime) {}

  /** Asks how jobs have ended that the task has started. */
  public record Asked(int attempt, @Nullable String attemptId, List<JobId> jobs) {
    public Asked {
      Fields.attempt(attempt);
      jobs = Fields.list("jobs", jobs, MOST);
    }
  }

  /** How they have ended, in the order asked; without those that the task has not started. */
  public record Ends(List<ChildEnd> jobs, Instant serverTime) {}
}
