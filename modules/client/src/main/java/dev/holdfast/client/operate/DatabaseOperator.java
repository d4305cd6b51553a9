package dev.holdfast.client.operate;

import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.AcceptedWorkerCommand;
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
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.admin.TokenKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** On the database itself. */
public final class DatabaseOperator implements Operator {
  private final Queue queue;
  private final Runnable close;
  private final String version;
  private final Duration cancelGrace;
  private final Duration reapGrace;

  /**
   * @param version of this program
   * @param close closes the queue and its connections
   */
  public DatabaseOperator(Queue queue, Timings timings, String version, Runnable close) {
    this.queue = queue;
    this.version = version;
    this.close = close;
    this.cancelGrace = timings.cancelGrace();
    this.reapGrace = timings.reapGrace();
  }

  @Override
  public List<Enqueued> enqueue(List<Job> jobs) {
    List<Enqueued> enqueued = new ArrayList<>();
    for (int from = 0; from < jobs.size(); from += Limits.BULK_JOBS) {
      int to = Math.min(jobs.size(), from + Limits.BULK_JOBS);
      enqueued.addAll(queue.enqueue(jobs.subList(from, to)));
    }
    return enqueued;
  }

  @Override
  public Optional<JobStatus> find(JobId job) {
    return queue.find(job);
  }

  @Override
  public List<JobStatus> list(JobFilter filter) {
    return queue.list(filter);
  }

  @Override
  public List<JobEvent> timeline(JobId job) {
    return queue.timeline(job);
  }

  @Override
  public List<Attempt> attempts(JobId job) {
    return queue.attempts(job);
  }

  @Override
  public List<PublishedArtifact> artifacts(JobId job) {
    return queue.artifacts(job);
  }

  @Override
  public LogTail log(JobId job, LogCursor after) {
    return queue.log(job, after);
  }

  @Override
  public List<StepStatus> steps(JobId job) {
    return queue.stepsOverview(job);
  }

  @Override
  public Optional<StepStatus> step(JobId job, String step) {
    return queue.step(job, step);
  }

  @Override
  public PendingCommand pending(JobId job) {
    return queue.control(job);
  }

  @Override
  public JobCommand.Answer command(JobId job, JobCommand command) {
    return queue.control(job, command, null);
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    return queue.cancel(job, cascade, reason, cancelGrace);
  }

  @Override
  public Set<JobId> retry(List<JobId> jobs) {
    return queue.retry(jobs);
  }

  @Override
  public List<QueueStatus> queues() {
    return queue.queues();
  }

  @Override
  public void pause(String name) {
    queue.pause(name);
  }

  @Override
  public boolean resume(String name) {
    return queue.resume(name);
  }

  @Override
  public void limit(String name, @Nullable Integer maxRunning) {
    queue.limit(name, maxRunning);
  }

  @Override
  public void rate(String name, int starts, Duration span) {
    queue.rate(name, starts, span);
  }

  @Override
  public void liftRate(String name) {
    queue.liftRate(name);
  }

  @Override
  public List<ScheduleStatus> schedules() {
    return queue.schedules();
  }

  @Override
  public void schedule(Schedule schedule) {
    queue.schedule(schedule);
  }

  @Override
  public boolean pauseSchedule(String name) {
    return queue.pauseSchedule(name);
  }

  @Override
  public boolean resumeSchedule(String name) {
    return queue.resumeSchedule(name);
  }

  @Override
  public boolean removeSchedule(String name) {
    return queue.removeSchedule(name);
  }

  @Override
  public Statistics statistics() {
    return queue.statistics();
  }

  @Override
  public List<ApiKey> keys() {
    return queue.keys();
  }

  @Override
  public NewKey createKey(String name, Role role, String tenant, @Nullable Duration lifetime) {
    Secrets.Parts parts = Secrets.next();
    queue.createKey(
        new ApiKey(parts.id(), name, role, tenant, Instant.EPOCH, null, null),
        parts.digest(),
        lifetime);
    return new NewKey(parts.id(), parts.text());
  }

  @Override
  public boolean revokeKey(String id) {
    return queue.revokeKey(id, Duration.ZERO);
  }

  @Override
  public Optional<NewKey> rotateKey(String id, Duration overlap) {
    Secrets.Parts parts = Secrets.next();
    return queue
        .rotateKey(id, parts.id(), parts.digest(), overlap)
        .map(key -> new NewKey(key.id(), parts.text()));
  }

  @Override
  public void rotateSigningKey() {
    queue.rotateTokenKey(TokenKey.next(), TokenLifetime.KEY_OVERLAP);
  }

  @Override
  public Workers workers() {
    return new Workers(queue.allPausedSince().orElse(null), queue.crew(null).all());
  }

  @Override
  public List<WorkerCommand> command(WorkerCommand.Draft draft) {
    return switch (queue.health().ask(queue.crew(null), draft)) {
      case AcceptedWorkerCommand.Given(var commands) -> commands;
      case AcceptedWorkerCommand.Unknown(var message) ->
          throw new OperatorException(OperatorException.Reason.NOT_FOUND, message);
      case AcceptedWorkerCommand.Refused(var code, var message) ->
          throw new OperatorException(OperatorException.Reason.REFUSED, message);
    };
  }

  @Override
  public void pauseAll(String reason) {
    queue.pauseAll();
  }

  @Override
  public Resumed resumeAll(String requestedBy, String reason) {
    boolean was = queue.resumeAll();
    return new Resumed(was, queue.health().resumeFailed(requestedBy, reason));
  }

  @Override
  public Health health() {
    return HealthCheck.of(queue, reapGrace, version);
  }

  @Override
  public void close() {
    close.run();
  }
}
