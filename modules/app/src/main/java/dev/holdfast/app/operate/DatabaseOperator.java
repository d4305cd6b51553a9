package dev.holdfast.app.operate;

import dev.holdfast.app.config.Access;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.client.operate.OperatorException;
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
import dev.holdfast.queue.JobQueries;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.QueueAdmin;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.server.auth.Secrets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** On the database itself. */
final class DatabaseOperator implements Operator {
  /** So long a server may go on signing with the key it knows. */
  private static final Duration UNTIL_ALL_KNOW = Duration.ofMinutes(1);

  private final Access access;
  private final Queue queue;
  private final JobQueue jobs;
  private final JobQueries queries;
  private final QueueAdmin admin;
  private final dev.holdfast.queue.Access keys;
  private final WorkerRegistry workers;
  private final Duration cancelGrace;
  private final Duration reapGrace;

  DatabaseOperator(Access access, Timings timings) {
    this.access = access;
    this.queue = access.holdfast().queue();
    this.jobs = queue.jobs();
    this.queries = queue.queries();
    this.admin = queue.admin();
    this.keys = queue.access();
    this.workers = queue.workers();
    this.cancelGrace = timings.cancelGrace();
    this.reapGrace = timings.reapGrace();
  }

  @Override
  public List<Enqueued> enqueue(List<Job> jobs) {
    List<Enqueued> enqueued = new ArrayList<>();
    for (int from = 0; from < jobs.size(); from += Limits.BULK_JOBS) {
      int to = Math.min(jobs.size(), from + Limits.BULK_JOBS);
      enqueued.addAll(this.jobs.enqueue(jobs.subList(from, to)));
    }
    return enqueued;
  }

  @Override
  public Optional<JobStatus> find(JobId job) {
    return queries.find(job);
  }

  @Override
  public List<JobStatus> list(JobFilter filter) {
    return queries.list(filter);
  }

  @Override
  public List<JobEvent> timeline(JobId job) {
    return queries.timeline(job);
  }

  @Override
  public List<Attempt> attempts(JobId job) {
    return queries.attempts(job);
  }

  @Override
  public List<PublishedArtifact> artifacts(JobId job) {
    return queries.artifacts(job);
  }

  @Override
  public LogTail log(JobId job, LogCursor after) {
    return queries.log(job, after);
  }

  @Override
  public List<StepStatus> steps(JobId job) {
    return queries.stepsOverview(job);
  }

  @Override
  public Optional<StepStatus> step(JobId job, String step) {
    return queries.step(job, step);
  }

  @Override
  public PendingCommand control(JobId job) {
    return queries.pendingCommand(job);
  }

  @Override
  public JobCommand.Answer control(JobId job, JobCommand command) {
    return jobs.command(job, command, null);
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    return jobs.cancel(job, cascade, reason, cancelGrace);
  }

  @Override
  public Set<JobId> retry(List<JobId> jobs) {
    return this.jobs.retry(jobs);
  }

  @Override
  public List<QueueStatus> queues() {
    return admin.queues();
  }

  @Override
  public void pause(String name) {
    admin.pause(name);
  }

  @Override
  public boolean resume(String name) {
    return admin.resume(name);
  }

  @Override
  public void limit(String name, @Nullable Integer maxRunning) {
    admin.limit(name, maxRunning);
  }

  @Override
  public void rate(String name, int starts, Duration span) {
    admin.rate(name, starts, span);
  }

  @Override
  public void liftRate(String name) {
    admin.liftRate(name);
  }

  @Override
  public List<ScheduleStatus> schedules() {
    return admin.schedules();
  }

  @Override
  public void schedule(Schedule schedule) {
    admin.schedule(schedule);
  }

  @Override
  public boolean pauseSchedule(String name) {
    return admin.pauseSchedule(name);
  }

  @Override
  public boolean resumeSchedule(String name) {
    return admin.resumeSchedule(name);
  }

  @Override
  public boolean removeSchedule(String name) {
    return admin.removeSchedule(name);
  }

  @Override
  public Statistics statistics() {
    return queries.statistics();
  }

  @Override
  public List<ApiKey> keys() {
    return keys.keys();
  }

  @Override
  public NewKey createKey(String name, Role role, String tenant, @Nullable Duration lifetime) {
    if (!tenant.equals(ApiKey.EVERY_TENANT)) {
      Limits.word("tenant", tenant);
    }
    Secrets.Parts parts = Secrets.next();
    keys.createKey(
        new ApiKey(parts.id(), Limits.key("name", name), role, tenant, Instant.EPOCH, null, null),
        parts.digest(),
        lifetime);
    return new NewKey(parts.id(), parts.text());
  }

  @Override
  public boolean revokeKey(String id) {
    return keys.revokeKey(id, Duration.ZERO);
  }

  @Override
  public Optional<NewKey> rotateKey(String id, Duration overlap) {
    return keys.validKey(id)
        .map(
            known -> {
              ApiKey old = known.key();
              // No longer than the old one would have lived.
              Duration lifetime =
                  old.expiresAt() == null ? null : Duration.between(queries.now(), old.expiresAt());
              NewKey created = createKey(old.name(), old.role(), old.tenant(), lifetime);
              keys.revokeKey(id, overlap);
              return created;
            });
  }

  @Override
  public void rotateSigningKey() {
    keys.rotateTokenKey(Secrets.tokenKey(), TokenLifetime.LONGEST.plus(UNTIL_ALL_KNOW));
  }

  @Override
  public Workers workers() {
    return new Workers(admin.allPausedSince().orElse(null), workers.readings().fleet(null).all());
  }

  @Override
  public List<WorkerCommand> order(WorkerCommand.Draft draft) {
    return switch (workers.commands().ask(workers.readings().fleet(null), draft)) {
      case AcceptedWorkerCommand.Given(var orders) -> orders;
      case AcceptedWorkerCommand.Unknown(var message) ->
          throw new OperatorException(OperatorException.Reason.NOT_FOUND, message);
      case AcceptedWorkerCommand.Refused(var code, var message) ->
          throw new OperatorException(OperatorException.Reason.REFUSED, message);
    };
  }

  @Override
  public void pauseAll(String reason) {
    admin.pauseAll();
  }

  @Override
  public Resumed resumeAll(String requestedBy, String reason) {
    boolean was = admin.resumeAll();
    return new Resumed(was, workers.commands().resumeFailed(requestedBy, reason));
  }

  @Override
  public Health health() {
    return HealthCheck.of(queue, reapGrace);
  }

  @Override
  public void close() {
    access.close();
  }
}
