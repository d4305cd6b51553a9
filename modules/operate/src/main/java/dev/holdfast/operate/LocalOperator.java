package dev.holdfast.operate;

import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Queries;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.queue.health.WorkerRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** On the database itself. */
public final class LocalOperator implements Operator {
  private final JobStore store;
  private final JobQueue jobs;
  private final Queries queries;
  private final Admin admin;
  private final WorkerRegistry workers;
  private final Runnable close;
  private final String version;
  private final Duration reapGrace;

  /**
   * @param version of this program
   * @param close closes the queue and its connections
   */
  public LocalOperator(JobStore store, Timings timings, String version, Runnable close) {
    this.store = store;
    this.jobs = store.jobs();
    this.queries = store.queries();
    this.admin = store.admin();
    this.workers = store.workers();
    this.version = version;
    this.close = close;
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
  public JobIdMatches idsLike(String part) {
    return queries.idsLike(JobIdMatches.part(part), null);
  }

  @Override
  public RunPage runs(@Nullable JobCursor before, int most) {
    return queries.runs(null, before, most);
  }

  @Override
  public Optional<RunGraph> run(JobId run) {
    return queries.run(run, null);
  }

  @Override
  public FailureGroups failures(int most) {
    return queries.failures(null, most);
  }

  @Override
  public JobDependencies dependencies(JobId job) {
    return queries.dependencies(job);
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
  public PendingCommand pending(JobId job) {
    return queries.pendingCommand(job);
  }

  @Override
  public JobCommand.Answer command(JobId job, JobCommand command) {
    return jobs.command(job, command, null);
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    return jobs.cancel(job, cascade, reason);
  }

  @Override
  public CancelledCounts cancelAll(List<JobId> jobs, boolean cascade, String reason) {
    Map<Cancellation.Outcome, Long> answers =
        this.jobs.cancel(jobs, cascade, reason, null).stream()
            .collect(Collectors.groupingBy(Cancellation::outcome, Collectors.counting()));
    long known = answers.values().stream().mapToLong(Long::longValue).sum();
    return new CancelledCounts(
        answers.getOrDefault(Cancellation.Outcome.CANCELLED, 0L),
        answers.getOrDefault(Cancellation.Outcome.REQUESTED, 0L),
        answers.getOrDefault(Cancellation.Outcome.ALREADY_REQUESTED, 0L),
        answers.getOrDefault(Cancellation.Outcome.ALREADY_TERMINAL, 0L),
        Math.max(0, jobs.size() - known));
  }

  @Override
  public Optional<JobEdit.Answer> edit(JobId job, JobEdit edit) {
    return jobs.edit(job, edit);
  }

  @Override
  public Optional<Deletion> delete(JobId job) {
    return jobs.delete(job);
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
  public QueueStatus queue(String name) {
    return admin.queue(name, null);
  }

  @Override
  public JobHistory history(JobHistory.Query query) {
    return queries.history(query);
  }

  @Override
  public void pause(String name, Pause.Draft pause) {
    admin.pause(name, pause);
  }

  @Override
  public Map<String, Pause> pauses() {
    return admin.pauses();
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
  public Optional<Enqueued> runSchedule(String name) {
    return admin.runSchedule(name);
  }

  @Override
  public boolean pauseSchedule(String name, Pause.Draft pause) {
    return admin.pauseSchedule(name, pause);
  }

  @Override
  public Map<String, Pause> schedulePauses() {
    return admin.schedulePauses();
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
    return admin.keys();
  }

  @Override
  public NewKey createKey(
      String name, Role role, @Nullable String tenant, @Nullable Duration lifetime) {
    Secrets.Parts parts = Secrets.next();
    admin.createKey(
        new ApiKey(parts.id(), name, role, tenant, Instant.EPOCH, null, null),
        parts.digest(),
        lifetime);
    return new NewKey(parts.id(), parts.text());
  }

  @Override
  public boolean revokeKey(String id) {
    return admin.revokeKey(id, Duration.ZERO);
  }

  @Override
  public Optional<NewKey> rotateKey(String id, Duration overlap) {
    Secrets.Parts parts = Secrets.next();
    return admin
        .rotateKey(id, parts.id(), parts.digest(), overlap)
        .map(key -> new NewKey(key.id(), parts.text()));
  }

  @Override
  public void rotateSigningKey() {
    admin.rotateTokenKey(TokenKey.next(), TokenLifetime.KEY_OVERLAP);
  }

  @Override
  public Workers workers() {
    return new Workers(admin.workersPause().orElse(null), workers.readings().fleet(null).all());
  }

  @Override
  public List<WorkerCommand> command(WorkerCommand.Draft draft) {
    return switch (workers.commands().ask(workers.readings().fleet(null), draft)) {
      case AcceptedWorkerCommand.Given(var commands) -> commands;
      case AcceptedWorkerCommand.Unknown(var message) ->
          throw new OperatorException(OperatorException.Reason.NOT_FOUND, message);
      case AcceptedWorkerCommand.Refused(var code, var message) ->
          throw new OperatorException(OperatorException.Reason.REFUSED, message);
    };
  }

  @Override
  public void pauseAllWorkers(String requestedBy, String reason) {
    admin.pauseAllWorkers(new Pause.Draft(requestedBy, reason));
  }

  @Override
  public Resumed resumeAllWorkers(String requestedBy, String reason) {
    boolean was = admin.resumeAllWorkers();
    return new Resumed(was, workers.commands().resumeFailed(requestedBy, reason));
  }

  @Override
  public Health health() {
    return HealthCheck.of(store, reapGrace, version);
  }

  @Override
  public void close() {
    close.run();
  }
}
