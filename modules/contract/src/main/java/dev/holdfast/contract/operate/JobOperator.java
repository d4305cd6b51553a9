package dev.holdfast.contract.operate;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an operator can do with jobs. */
public interface JobOperator {
  /** One answer per job, in their order. */
  List<Enqueued> enqueue(List<Job> jobs);

  Optional<JobStatus> find(JobId job);

  List<JobStatus> list(JobFilter filter);

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

  /** The jobs that a job depends on, and those that depend on it. */
  JobDependencies dependencies(JobId job);

  List<JobEvent> timeline(JobId job);

  List<Attempt> attempts(JobId job);

  List<PublishedArtifact> artifacts(JobId job);

  /** The log of its programs, from a cursor on. */
  LogTail log(JobId job, LogCursor after);

  /** In their order, without their checkpoints. */
  List<StepStatus> steps(JobId job);

  /** With its checkpoint. */
  Optional<StepStatus> step(JobId job, String step);

  /** The commands to a job that its worker has not executed yet. */
  PendingCommand pending(JobId job);

  /**
   * Gives a command to a job. Through a server, the command is recorded under the name of the API
   * key; the name in the command is used on the database only.
   */
  JobCommand.Answer command(JobId job, JobCommand command);

  /** Empty when there is no such job. */
  List<Cancellation> cancel(JobId job, boolean cascade, String reason);

  /** Cancels many jobs, {@link JobFilter#MOST} at most. */
  CancelledCounts cancelAll(List<JobId> jobs, boolean cascade, String reason);

  /**
   * What became of many jobs.
   *
   * @param requested they run, and their workers were asked to stop
   */
  record CancelledCounts(
      long cancelled, long requested, long alreadyRequested, long alreadyTerminal, long notFound) {}

  /** Changes a job that no worker has claimed; empty when there is no such job. */
  Optional<JobEdit.Answer> edit(JobId job, JobEdit edit);

  /** Deletes a job that does not run; empty when there is no such job. */
  Optional<Deletion> delete(JobId job);

  /** The jobs that were requeued: those in {@link JobState#RETRYABLE}. */
  Set<JobId> retry(List<JobId> jobs);
}
