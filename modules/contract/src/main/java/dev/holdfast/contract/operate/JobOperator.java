package dev.holdfast.contract.operate;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.value.Json;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an operator can do with jobs. A job that is not there, or is another tenant's, is {@link
 * OperatorException.Reason#NOT_FOUND} to what would change it.
 */
public interface JobOperator {
  /** One answer per job, in their order. */
  List<Enqueued> enqueue(List<Job> jobs);

  Optional<JobStatus> find(JobId job);

  /** A job with some of its parts, in one read. */
  Optional<JobDetail> show(JobId job, Set<JobDetail.Part> parts);

  default Optional<JobDetail> show(JobId job, JobDetail.Part first, JobDetail.Part... rest) {
    return show(job, EnumSet.of(first, rest));
  }

  /** As many as the filter takes in, with their payloads. */
  List<JobStatus> list(JobFilter filter);

  /**
   * One page, bounded in time; long payloads are left out.
   *
   * @param brief without payloads, results and stack traces, however short
   */
  JobPage page(JobFilter filter, boolean brief);

  /** Counted up to a bound. */
  JobCount count(JobFilter filter);

  /** How many jobs there are in each state, queue and kind, among the newest of the filter. */
  JobCounts counts(JobFilter filter);

  /** The jobs whose ids begin or end with a text; see {@link JobIdMatches#part}. */
  JobIdMatches idsLike(String part);

  /**
   * Runs, the newest first.
   *
   * @param before runs older than this one; null for the newest
   */
  RunPage runs(@Nullable JobCursor before, int most);

  /** The jobs of a run and the dependencies between them; empty if there is no such run. */
  Optional<RunGraph> run(JobId run);

  /** What FAILED jobs failed of, the latest first. */
  FailureGroups failures(int most);

  /** How many jobs there are, by queue, kind and state. */
  Statistics statistics();

  /** What was enqueued and ended. */
  JobHistory history(JobHistory.Query query);

  /** The log of its programs, from a cursor on. */
  LogTail log(JobId job, LogCursor after);

  /** With its checkpoint; empty if it has not begun. */
  Optional<StepStatus> step(JobId job, String step);

  /**
   * The changes that a step made in its workspace.
   *
   * @param step null for those of all steps that are done, in their order
   */
  Optional<Patch> patch(JobId job, @Nullable String step);

  /**
   * Gives a command to a job.
   *
   * @param step the step it is for, if it is for one
   */
  Commanded command(JobId job, CommandAction action, @Nullable String step, String reason);

  /**
   * @param pending the commands that its worker has not executed yet
   * @param stepsToRepeat steps whose checkpoints the command will drop
   */
  record Commanded(
      @JsonUnwrapped PendingCommand pending,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> stepsToRepeat) {
    public Commanded {
      stepsToRepeat = stepsToRepeat == null ? List.of() : List.copyOf(stepsToRepeat);
    }
  }

  /**
   * Tells a job something, for which its handler waits or will wait.
   *
   * @param key of two signals to a job with the same key only the first counts; null for none
   * @return whether it was told before, by a signal with this key
   */
  boolean signal(JobId job, String name, Json payload, @Nullable String key);

  /**
   * The same to the job that holds a unique key, in a chain of jobs always to the last.
   *
   * @param tenant whose job it is; null for the caller's, or that of jobs without one
   */
  Told signal(
      String kind,
      String uniqueKey,
      @Nullable String tenant,
      String name,
      Json payload,
      @Nullable String key);

  /**
   * Which job was told something.
   *
   * @param duplicate whether it was told before, by a signal with this key
   */
  record Told(JobId id, boolean duplicate) {}

  /** Makes new jobs that go on from a step of this one, which stays as it is. */
  Forked fork(JobId job, JobFork fork);

  /**
   * New jobs.
   *
   * @param duplicate whether they were made before, with the same key
   */
  record Forked(List<JobId> jobs, boolean duplicate) {
    public Forked {
      jobs = List.copyOf(jobs);
    }
  }

  /**
   * Answers the question of a job that waits for a person.
   *
   * @param wait the id under which it asks
   */
  void decide(JobId job, String wait, boolean approved, String comment);

  /**
   * A link by which somebody without a key can answer the question of a job, in the role that it
   * asks for; the caller has that role.
   *
   * @param wait the id under which it asks
   */
  ApprovalLinks.Link link(JobId job, String wait);

  /** One answer for the job, and one for each of its children when cascading. */
  List<Cancellation> cancel(JobId job, boolean cascade, String reason);

  Cancelled cancel(Selection jobs, boolean cascade, String reason);

  /**
   * What became of many jobs.
   *
   * @param requested they run, and their workers were asked to stop
   * @param next where the others of the filter begin; null if there are none
   */
  record Cancelled(
      long cancelled,
      long requested,
      long alreadyRequested,
      long alreadyTerminal,
      long notFound,
      @Nullable JobCursor next) {}

  /** Changes a job that no worker has claimed, and returns it as it is then. */
  JobStatus edit(JobId job, JobEdit edit);

  /** Deletes a job that does not run, and returns the state it was in. */
  JobState delete(JobId job);

  /** Requeues a job that is in {@link JobState#RETRYABLE}. */
  void retry(JobId job);

  Retried retry(Selection jobs);

  /**
   * What became of many jobs.
   *
   * @param next where the others of the filter begin; null if there are none
   */
  record Retried(long retried, long refused, long notFound, @Nullable JobCursor next) {}
}
