package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.JobSearch;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.contract.request.BulkRequest;
import dev.holdfast.contract.request.CancelRequest;
import dev.holdfast.contract.request.CommandRequest;
import dev.holdfast.contract.request.DecisionRequest;
import dev.holdfast.contract.request.ForkRequest;
import dev.holdfast.contract.request.JobPatch;
import dev.holdfast.contract.request.JobRequest;
import dev.holdfast.contract.request.JobRequests;
import dev.holdfast.contract.request.KeySignalRequest;
import dev.holdfast.contract.request.LinkRequest;
import dev.holdfast.contract.request.SignalRequest;
import dev.holdfast.contract.resource.JobDetailResource;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobFork;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Jobs, through a server. They get their ids here: one that is sent twice is enqueued once. */
final class HttpJobs implements JobOperator {
  private static final int PAGE = 200;

  private final OperatorCalls server;

  HttpJobs(OperatorCalls server) {
    this.server = server;
  }

  private static String path(JobId job, String part) {
    return "/v1/jobs/" + job + part;
  }

  private static String query(Map<String, String> values) {
    return values.entrySet().stream()
        .map(each -> each.getKey() + "=" + encoded(each.getValue()))
        .collect(Collectors.joining("&", "?", ""));
  }

  @Override
  public List<Enqueued> enqueue(List<Job> jobs) {
    List<Enqueued> enqueued = new ArrayList<>();
    for (List<JobRequest> some : JobRequests.of(jobs)) {
      enqueued.addAll(
          server.postBulk(
              "/v1/jobs", Map.of("jobs", some), reply -> reply.list("jobs", Enqueued.class)));
    }
    return enqueued;
  }

  @Override
  public Optional<JobStatus> find(JobId job) {
    return server.find(path(job, ""), JobStatus.class);
  }

  @Override
  public Optional<JobDetail> show(JobId job, Set<JobDetail.Part> parts) {
    String include = parts.stream().map(JobDetail.Part::text).collect(Collectors.joining(","));
    return server
        .find(path(job, include.isEmpty() ? "" : "?include=" + include), JobDetailResource.class)
        .map(JobDetailResource::detail);
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
      JobPage page =
          page(filter.limit(Math.min(PAGE, filter.limit() - jobs.size())), false, cursor);
      page.jobs().stream()
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
  public JobPage page(JobFilter filter, boolean brief) {
    return page(filter, brief, filter.oldestFirst() ? null : filter.before());
  }

  private JobPage page(JobFilter filter, boolean brief, @Nullable JobCursor cursor) {
    JobCursor from = filter.from();
    JobCursor before = filter.before();
    // The ends that are jobs are for the cursor, and for who lists.
    Map<String, String> query =
        JobSearch.of(
                filter
                    .from(from == null ? null : JobCursor.at(from.createdAt()))
                    .before(before == null || !before.isMoment() ? null : before))
            .parameters();
    query.put("limit", Integer.toString(filter.limit()));
    if (brief) {
      query.put("brief", "true");
    }
    if (filter.oldestFirst()) {
      query.put("order", "oldest");
    }
    if (cursor != null) {
      query.put("cursor", cursor.toString());
    }
    return server.get("/v1/jobs" + query(query), JobPage.class);
  }

  @Override
  public JobCount count(JobFilter filter) {
    return server.get("/v1/jobs/count" + query(JobSearch.of(filter).parameters()), JobCount.class);
  }

  @Override
  public JobCounts counts(JobFilter filter) {
    return server.get(
        "/v1/jobs/counts" + query(JobSearch.of(filter).parameters()), JobCounts.class);
  }

  @Override
  public JobIdMatches idsLike(String part) {
    return server.get("/v1/jobs/ids?part=" + encoded(JobIdMatches.part(part)), JobIdMatches.class);
  }

  @Override
  public RunPage runs(@Nullable JobCursor before, int most) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("limit", Integer.toString(most));
    if (before != null) {
      query.put("cursor", before.toString());
    }
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
  public Statistics statistics() {
    return server.get("/v1/statistics", Statistics.class);
  }

  @Override
  public JobHistory history(JobHistory.Query query) {
    Map<String, String> asked = new LinkedHashMap<>();
    asked.put("minutes", Long.toString(Math.max(1, query.span().toMinutes())));
    if (query.queue() != null) {
      asked.put("queue", query.queue());
    }
    if (query.kind() != null) {
      asked.put("kind", query.kind());
    }
    return server.get("/v1/history" + query(asked), JobHistory.class);
  }

  @Override
  public LogTail log(JobId job, LogCursor after) {
    return server.get(path(job, "/log?cursor=" + after), LogTail.class);
  }

  @Override
  public Optional<StepStatus> step(JobId job, String step) {
    return of(job, server.find(path(job, "/steps/" + encoded(step)), StepStatus.class));
  }

  @Override
  public Optional<Patch> patch(JobId job, @Nullable String step) {
    String patch = step == null ? "/patch" : "/steps/" + encoded(step) + "/patch";
    return of(job, server.findBytes(path(job, patch))).map(Patch::of);
  }

  /** Nothing is found of a job that is not there, either. */
  private <T> Optional<T> of(JobId job, Optional<T> found) {
    if (found.isEmpty() && find(job).isEmpty()) {
      throw OperatorException.noSuchJob(job);
    }
    return found;
  }

  @Override
  public Commanded command(JobId job, CommandAction action, @Nullable String step, String reason) {
    return server.post(
        path(job, "/control"), new CommandRequest(action.text(), step, reason), Commanded.class);
  }

  @Override
  public boolean signal(JobId job, String name, Json payload, @Nullable String key) {
    return server
        .post(
            path(job, "/signals"),
            new SignalRequest(name, payload, key),
            SignalRequest.Answer.class)
        .duplicate();
  }

  @Override
  public Told signal(
      String kind,
      String uniqueKey,
      @Nullable String tenant,
      String name,
      Json payload,
      @Nullable String key) {
    return server.post(
        "/v1/signals",
        new KeySignalRequest(kind, uniqueKey, tenant, name, payload, key),
        Told.class);
  }

  @Override
  public Forked fork(JobId job, JobFork fork) {
    return server.post(path(job, "/fork"), ForkRequest.of(fork), Forked.class);
  }

  @Override
  public void decide(JobId job, String wait, boolean approved, String comment) {
    server.post(path(job, "/decisions"), new DecisionRequest(wait, approved, comment));
  }

  @Override
  public ApprovalLinks.Link link(JobId job, String wait) {
    return server.post(path(job, "/links"), new LinkRequest(wait), ApprovalLinks.Link.class);
  }

  @Override
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason) {
    return server.post(
        path(job, "/cancel"),
        new CancelRequest(reason, cascade),
        reply -> reply.list("jobs", Cancellation.class));
  }

  @Override
  public Cancelled cancel(Selection jobs, boolean cascade, String reason) {
    return server.postBulk(
        "/v1/jobs/cancel",
        BulkRequest.of(jobs, reason, cascade),
        reply -> reply.read(Cancelled.class));
  }

  @Override
  public JobStatus edit(JobId job, JobEdit edit) {
    return server.patch(path(job, ""), JobPatch.of(edit), JobStatus.class);
  }

  private record Deleted(JobState state) {}

  @Override
  public JobState delete(JobId job) {
    return server.delete(path(job, ""), Deleted.class).state();
  }

  @Override
  public void retry(JobId job) {
    server.post(path(job, "/retry"), OperatorCalls.NOTHING);
  }

  @Override
  public Retried retry(Selection jobs) {
    return server.postBulk(
        "/v1/jobs/retry", BulkRequest.of(jobs, null, null), reply -> reply.read(Retried.class));
  }
}
