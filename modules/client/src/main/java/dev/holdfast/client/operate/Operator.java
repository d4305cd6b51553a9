package dev.holdfast.client.operate;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.WorkerView;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All that an operator can do, whether on the database itself or through a server. What cannot be
 * taken as it is throws {@link dev.holdfast.model.value.RefusedException}; a server that is not
 * there, or does not let us in, a {@link OperatorException}.
 */
public interface Operator extends AutoCloseable {
  /** One answer per job, in their order. */
  List<Enqueued> enqueue(List<Job> jobs);

  Optional<JobStatus> find(JobId job);

  List<JobStatus> list(JobFilter filter);

  List<JobEvent> timeline(JobId job);

  List<Attempt> attempts(JobId job);

  List<PublishedArtifact> artifacts(JobId job);

  /** What its programs printed last, from where a reader has come to. */
  LogTail log(JobId job, LogCursor after);

  /** In their order, without their checkpoints. */
  List<StepStatus> steps(JobId job);

  /** With its checkpoint. */
  Optional<StepStatus> step(JobId job, String step);

  /** What is asked of a job at this moment. */
  PendingCommand control(JobId job);

  /** Through a server, whose key it is has asked; the name in the command is for the database. */
  JobCommand.Answer control(JobId job, JobCommand command);

  /** Empty when there is no such job. */
  List<Cancellation> cancel(JobId job, boolean cascade, String reason);

  /** Those that were put back into their queues. */
  Set<JobId> retry(List<JobId> jobs);

  List<QueueStatus> queues();

  void pause(String queue);

  /** False when the queue was not paused. */
  boolean resume(String queue);

  /** Null lifts the limit. */
  void limit(String queue, @Nullable Integer maxRunning);

  void rate(String queue, int starts, Duration span);

  void liftRate(String queue);

  List<ScheduleStatus> schedules();

  void schedule(Schedule schedule);

  /** False when there is no such schedule, or it was paused before. */
  boolean pauseSchedule(String name);

  /** False when there is no such schedule, or it was not paused. */
  boolean resumeSchedule(String name);

  boolean removeSchedule(String name);

  Statistics statistics();

  List<ApiKey> keys();

  /**
   * @param tenant whose jobs it sees; {@value ApiKey#EVERY_TENANT} is everybody's
   * @param lifetime null is for ever
   */
  NewKey createKey(String name, Role role, String tenant, @Nullable Duration lifetime);

  /** False when there is no such key, or it opens nothing any more. */
  boolean revokeKey(String id);

  /** A key like this one, which opens nothing any more once the overlap is over. */
  Optional<NewKey> rotateKey(String id, Duration overlap);

  /** Task tokens are signed with a new key; what older ones signed is good as long as it was. */
  void rotateSigningKey();

  Workers workers();

  /** Asks something of a worker process; through a server, whose key it is has asked. */
  List<WorkerCommand> order(WorkerCommand.Draft draft);

  /** No worker takes a job of any queue; what runs goes on. */
  void pauseAll(String reason);

  /**
   * Ends that, and asks for a new start of every worker process that has failed.
   *
   * @param requestedBy as in a command
   */
  Resumed resumeAll(String requestedBy, String reason);

  Health health();

  @Override
  void close();

  /**
   * All workers that are known.
   *
   * @param pausedSince since when all of them are paused; null when they are not
   */
  record Workers(@Nullable Instant pausedSince, List<WorkerView> workers) {
    public Workers {
      workers = List.copyOf(workers);
    }
  }

  /**
   * @param wasPaused whether there was anything to end
   * @param orders for those that had failed
   */
  record Resumed(boolean wasPaused, List<WorkerCommand> orders) {
    public Resumed {
      orders = List.copyOf(orders);
    }
  }

  /**
   * How things stand.
   *
   * @param about which versions of what, for people
   * @param problems none when all is well
   */
  record Health(String about, Workers workers, List<Trouble> problems) {
    /** One thing that is wrong, and what to do about it. */
    public record Trouble(String code, String what, String doNext) {}
  }

  /**
   * @param text what has to be shown to come in; known to nobody but whoever made the key
   */
  record NewKey(String id, String text) {
    @Override
    public String toString() {
      return "key " + id;
    }
  }
}
