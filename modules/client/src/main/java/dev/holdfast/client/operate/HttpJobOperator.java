package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.client.http.Reply;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.resource.ArtifactResource;
import dev.holdfast.contract.resource.AttemptResource;
import dev.holdfast.contract.resource.CancellationResource;
import dev.holdfast.contract.resource.DependenciesResource;
import dev.holdfast.contract.resource.EnqueuedResource;
import dev.holdfast.contract.resource.EventResource;
import dev.holdfast.contract.resource.JobPatch;
import dev.holdfast.contract.resource.JobRequest;
import dev.holdfast.contract.resource.JobRequests;
import dev.holdfast.contract.resource.JobResource;
import dev.holdfast.contract.resource.LogResource;
import dev.holdfast.contract.resource.PendingCommandResource;
import dev.holdfast.contract.resource.StepResource;
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
import dev.holdfast.model.search.SearchSyntax;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Jobs, through a server. */
abstract class HttpJobOperator implements JobOperator {
  static final Map<String, String> NOTHING = Map.of();

  private static final int PAGE = 200;

  final OperatorCalls server;

  HttpJobOperator(OperatorCalls server) {
    this.server = server;
  }

  @Override
  public List<Enqueued> enqueue(List<Job> jobs) {
    List<Enqueued> enqueued = new ArrayList<>();
    for (List<JobRequest> some : JobRequests.of(jobs)) {
      server
          .postBulk("/v1/jobs", Map.of("jobs", some), EnqueuedResource.Batch.class)
          .jobs()
          .forEach(each -> enqueued.add(each.enqueued()));
    }
    return enqueued;
  }

  @Override
  public Optional<JobStatus> find(JobId job) {
    return server.find("/v1/jobs/" + job, JobResource.class).map(JobResource::status);
  }

  @Override
  public List<JobStatus> list(JobFilter filter) {
    List<JobStatus> jobs = new ArrayList<>();
    JobCursor before = filter.before();
    JobCursor from = filter.from();
    JobCursor cursor = before;
    if (filter.oldestFirst()) {
      cursor = from == null ? null : from.preceding();
    }
    do {
      Map<String, String> query = new LinkedHashMap<>();
      query.put(
          "state", filter.states().stream().map(JobState::name).collect(Collectors.joining(",")));
      query.put("queue", orEmpty(filter.queue()));
      query.put("kind", orEmpty(filter.kind()));
      query.put("runId", orEmpty(filter.run()));
      query.put("parentId", orEmpty(filter.parent()));
      query.put("tag", orEmpty(filter.tag()));
      query.put("tenant", orEmpty(filter.tenant()));
      query.put("q", orEmpty(filter.content().text()));
      query.put("search", SearchSyntax.text(filter.content().text(null)));
      query.put("createdAfter", from == null ? "" : from.createdAt().toString());
      query.put("order", filter.oldestFirst() ? "oldest" : "");
      query.put("cursor", cursor == null ? "" : cursor.toString());
      query.put("limit", Integer.toString(Math.min(PAGE, filter.limit() - jobs.size())));
      JobResource.Page page = server.get("/v1/jobs" + query(query), JobResource.Page.class);
      page.jobs().stream()
          .map(JobResource::status)
          .filter(job -> before == null || JobCursor.of(job).compareTo(before) < 0)
          // Jobs of one transaction are of the same time.
          .filter(job -> from == null || JobCursor.of(job).compareTo(from) >= 0)
          .forEach(jobs::add);
      cursor = page.next();
      boolean isPast =
          filter.oldestFirst() && before != null && cursor != null && cursor.compareTo(before) >= 0;
      cursor = isPast ? null : cursor;
    } while (cursor != null && jobs.size() < filter.limit());
    return jobs;
  }

  @Override
  public JobIdMatches idsLike(String part) {
    return server.get("/v1/jobs/ids?part=" + encoded(JobIdMatches.part(part)), JobIdMatches.class);
  }

  @Override
  public RunPage runs(@Nullable JobCursor before, int most) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("limit", Integer.toString(most));
    query.put("cursor", orEmpty(before));
    return server.get("/v1/runs" + query(query), RunPage.class);
  }

  @Override
  public Optional<RunGraph> run(JobId run) {
    return server.find("/v1/runs/" + run, RunGraph.class);
  }

  @Override
  public FailureGroups failures(int most) {
    return server.get("/v1/failures?limit=" + most, FailureGroups.class);
  }

  @Override
  public JobDependencies dependencies(JobId job) {
    return server.get(of(job, "dependencies"), DependenciesResource.class).dependencies();
  }

  @Override
  public List<JobEvent> timeline(JobId job) {
    return server.get(of(job, "timeline"), EventResource.Timeline.class).events().stream()
        .map(event -> event.event(job))
        .toList();
  }

  @Override
  public List<Attempt> attempts(JobId job) {
    return server.get(of(job, "attempts"), AttemptResource.Attempts.class).attempts().stream()
        .map(AttemptResource::toAttempt)
        .toList();
  }

  @Override
  public List<PublishedArtifact> artifacts(JobId job) {
    return server.get(of(job, "artifacts"), ArtifactResource.Artifacts.class).artifacts().stream()
        .map(ArtifactResource::published)
        .toList();
  }

  @Override
  public LogTail log(JobId job, LogCursor after) {
    return server.get(of(job, "log?cursor=" + after), LogResource.class).tail();
  }

  @Override
  public List<StepStatus> steps(JobId job) {
    return server.get(of(job, "steps"), StepResource.Steps.class).steps().stream()
        .map(StepResource::status)
        .toList();
  }

  @Override
  public Optional<StepStatus> step(JobId job, String step) {
    return server
        .find(of(job, "steps/" + encoded(step)), StepResource.class)
        .map(StepResource::status);
  }

  @Override
  public PendingCommand pending(JobId job) {
    return server.get("/v1/jobs/" + job, PendingCommandResource.OfJob.class).pending();
  }

  private record JobCommandRequest(String action, @Nullable String stepId, String reason) {}

  @Override
  public JobCommand.Answer command(JobId job, JobCommand command) {
    return server.post(
        of(job, "control"),
        new JobCommandRequest(command.action().text(), command.stepId(), command.reason()),
        reply ->
            switch (reply.error()) {
              case "not_found" -> JobCommand.Answer.NO_SUCH_JOB;
              case "job_already_terminal" -> JobCommand.Answer.ALREADY_TERMINAL;
              case "job_not_running" -> JobCommand.Answer.NOT_RUNNING;
              case "job_without_steps" -> JobCommand.Answer.NO_STEPS;
              case "no_such_step" -> JobCommand.Answer.NO_SUCH_STEP;
              case "step_not_reached" -> JobCommand.Answer.STEP_NOT_REACHED;
              case "step_done" -> JobCommand.Answer.STEP_DONE;
              case "job_not_taken_over" -> JobCommand.Answer.NOT_TAKEN_OVER;
              case "step_without_workspace" -> JobCommand.Answer.NO_WORKSPACE;
              default -> {
                reply.ok();
                yield JobCommand.Answer.ACCEPTED;
              }
            });
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    return server.post(
        of(job, "cancel"),
        Map.of("reason", reason, "cascade", cascade),
        reply -> {
          if (OperatorCalls.isNotFound(reply)) {
            return List.of();
          }
          if (reply.error().equals("job_already_terminal")) {
            return List.of(
                new Cancellation(
                    job,
                    JobState.valueOf(reply.problem("state")),
                    Cancellation.Outcome.ALREADY_TERMINAL));
          }
          return reply.read(CancellationResource.Cancellations.class).jobs().stream()
              .map(CancellationResource::cancellation)
              .toList();
        });
  }

  @Override
  public CancelledCounts cancelAll(List<JobId> jobs, boolean cascade, String reason) {
    return server.postBulk(
        "/v1/jobs/cancel",
        Map.of("ids", jobs, "cascade", cascade, "reason", reason),
        CancelledCounts.class);
  }

  @Override
  public Optional<JobEdit.Answer> edit(JobId job, JobEdit edit) {
    return server.patch(
        "/v1/jobs/" + job,
        JobPatch.of(edit),
        reply ->
            switch (reply.error()) {
              case "not_found" -> Optional.empty();
              case "job_running" -> edited(job, reply, JobEdit.Outcome.ALREADY_RUNNING);
              case "job_already_terminal" -> edited(job, reply, JobEdit.Outcome.ALREADY_TERMINAL);
              default ->
                  Optional.of(
                      new JobEdit.Answer(
                          job, reply.read(JobResource.class).state(), JobEdit.Outcome.EDITED));
            });
  }

  private static Optional<JobEdit.Answer> edited(JobId job, Reply reply, JobEdit.Outcome outcome) {
    return Optional.of(new JobEdit.Answer(job, JobState.valueOf(reply.problem("state")), outcome));
  }

  private record Deleted(JobId id, JobState state) {}

  @Override
  public Optional<Deletion> delete(JobId job) {
    return server.delete(
        "/v1/jobs/" + job,
        reply ->
            switch (reply.error()) {
              case "not_found" -> Optional.empty();
              case "job_running" -> deleted(job, reply, Deletion.Outcome.RUNNING);
              case "job_awaited" -> deleted(job, reply, Deletion.Outcome.AWAITED);
              default ->
                  Optional.of(
                      new Deletion(
                          job, reply.read(Deleted.class).state(), Deletion.Outcome.DELETED));
            });
  }

  private static Optional<Deletion> deleted(JobId job, Reply reply, Deletion.Outcome outcome) {
    return Optional.of(new Deletion(job, JobState.valueOf(reply.problem("state")), outcome));
  }

  @Override
  public Set<JobId> retry(List<JobId> jobs) {
    Set<JobId> retried = new LinkedHashSet<>();
    for (JobId job : jobs) {
      boolean accepted =
          server.post(
              of(job, "retry"),
              NOTHING,
              reply ->
                  !OperatorCalls.isNotFound(reply)
                      && !reply.error().equals("job_not_retryable")
                      && reply.ok().isOk());
      if (accepted) {
        retried.add(job);
      }
    }
    return retried;
  }

  private static String of(JobId job, String part) {
    return "/v1/jobs/" + job + "/" + part;
  }

  private static String query(Map<String, String> values) {
    return values.entrySet().stream()
        .filter(each -> !each.getValue().isEmpty())
        .map(each -> each.getKey() + "=" + encoded(each.getValue()))
        .collect(Collectors.joining("&", "?", ""));
  }

  private static String orEmpty(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }
}
