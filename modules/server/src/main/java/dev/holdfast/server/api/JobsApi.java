package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.ArtifactResource;
import dev.holdfast.contract.resource.AttemptResource;
import dev.holdfast.contract.resource.DependenciesResource;
import dev.holdfast.contract.resource.EventResource;
import dev.holdfast.contract.resource.JobResource;
import dev.holdfast.contract.resource.LogResource;
import dev.holdfast.contract.resource.PendingCommandResource;
import dev.holdfast.contract.resource.StepResource;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads jobs. A job of another tenant is answered as one that does not exist. */
public final class JobsApi {
  private static final int PAGE = 50;
  private static final int LARGEST_PAGE = 200;
  private static final int MOST_COUNTED = 10_000;
  private static final String EVENTS = "events";
  private static final String ATTEMPTS = "attempts";
  private static final String STEPS = "steps";
  private static final String ARTIFACTS = "artifacts";
  private static final String DEPENDENCIES = "dependencies";
  private static final List<String> PARTS =
      List.of(EVENTS, ATTEMPTS, STEPS, ARTIFACTS, DEPENDENCIES);

  private final Queries queries;
  private final InstantSource clock;

  public JobsApi(Queries queries, InstantSource clock) {
    this.queries = queries;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/jobs", Guard.READ, this::list)
            .queries(JobFilterParameters.and("brief", "order", "limit", "cursor")),
        Route.get("/v1/jobs/count", Guard.READ, this::count).queries(JobFilterParameters.and()),
        Route.get("/v1/jobs/ids", Guard.READ, this::ids).queries("part"),
        Route.get("/v1/jobs/counts", Guard.READ, this::counts).queries(JobFilterParameters.and()),
        Route.get("/v1/jobs/{id}", Guard.READ, this::show).queries("include"),
        Route.get("/v1/jobs/{id}/timeline", Guard.READ, call -> only(call, EVENTS, this::events)),
        Route.get("/v1/jobs/{id}/log", Guard.READ, this::log).queries("cursor"),
        Route.get(
            "/v1/jobs/{id}/attempts", Guard.READ, call -> only(call, ATTEMPTS, this::attempts)),
        Route.get("/v1/jobs/{id}/steps", Guard.READ, call -> only(call, STEPS, this::steps)),
        Route.get(
            "/v1/jobs/{id}/artifacts", Guard.READ, call -> only(call, ARTIFACTS, this::artifacts)),
        Route.get(
            "/v1/jobs/{id}/dependencies",
            Guard.READ,
            call -> Answer.ok(dependencies(call, job(queries, call).id()))),
        Route.get("/v1/jobs/{id}/result", Guard.READ, this::result));
  }

  /** The job in the path, if there is one that the caller may see. */
  static JobStatus job(Queries queries, Call call) {
    return queries
        .find(call.id("id"))
        .filter(job -> call.caller().sees(job.tenant()))
        .orElseThrow(() -> unknown(call.id("id")));
  }

  static Problem unknown(JobId id) {
    return Problem.notFound("there is no job " + id);
  }

  private Answer list(Call call) {
    JobFilter filter =
        JobFilterParameters.filter(call, clock.instant())
            .oldestFirst(call.query("order").map(JobFilterParameters::oldestFirst).orElse(false))
            .limit(call.whole("limit", PAGE, 1, LARGEST_PAGE))
            .resumed(call.query("cursor").map(JobFilterParameters::cursor).orElse(null));
    JobFilter wanted = JobFilterParameters.within(call, filter);
    boolean brief = call.flag("brief");
    JobPage page =
        wanted == null
            ? new JobPage(List.of(), null, true)
            : brief ? queries.briefPage(wanted) : queries.page(wanted);
    return Answer.ok(JobResource.Page.of(page, brief, !filter.content().isAny()));
  }

  private Answer count(Call call) {
    JobFilter wanted = wanted(call);
    JobCount count = wanted == null ? new JobCount(0, false) : queries.count(wanted, MOST_COUNTED);
    return Answer.ok(Wire.object().put("count", count.count()).put("more", count.more()));
  }

  private @Nullable JobFilter wanted(Call call) {
    return JobFilterParameters.within(call, JobFilterParameters.filter(call, clock.instant()));
  }

  private Answer counts(Call call) {
    JobFilter wanted = wanted(call);
    return Answer.ok(
        wanted == null ? new JobCounts(List.of(), 0, false, List.of()) : queries.counts(wanted));
  }

  private Answer ids(Call call) {
    String part =
        JobIdMatches.part(
            call.query("part")
                .orElseThrow(
                    () -> new Problem(422, "invalid_value", "parameter 'part' is missing")));
    return Answer.ok(queries.idsLike(part, call.caller().tenant()));
  }

  private DependenciesResource dependencies(Call call, JobId job) {
    return DependenciesResource.of(
        queries.dependencies(job).only(each -> call.caller().sees(each.tenant())));
  }

  private Answer show(Call call) {
    List<String> include = call.query("include").map(JobsApi::parts).orElse(List.of());
    JobStatus job = job(queries, call);
    JobId id = job.id();
    // A job that has ended has no commands: that query is saved.
    PendingCommand pending =
        job.state().isTerminal() ? PendingCommand.NONE : queries.pendingCommand(id);
    return Answer.ok(
        new JobResource.Detail(
            JobResource.of(job),
            pending.equals(PendingCommand.NONE) ? null : PendingCommandResource.of(pending),
            include.contains(EVENTS) ? events(id) : null,
            include.contains(ATTEMPTS) ? attempts(id) : null,
            include.contains(STEPS) ? steps(id) : null,
            include.contains(ARTIFACTS) ? artifacts(id) : null,
            include.contains(DEPENDENCIES) ? dependencies(call, id) : null));
  }

  private static List<String> parts(String list) {
    List<String> parts = Stream.of(list.split(",", -1)).map(String::strip).distinct().toList();
    if (!PARTS.containsAll(parts)) {
      throw new Problem(
          422, "invalid_value", "parameter 'include' takes some of " + String.join(", ", PARTS));
    }
    return parts;
  }

  private Answer log(Call call) {
    LogCursor after = call.query("cursor").map(LogCursor::parse).orElse(LogCursor.START);
    return Answer.ok(LogResource.of(queries.log(job(queries, call).id(), after)));
  }

  private List<EventResource> events(JobId job) {
    return queries.timeline(job).stream().map(EventResource::of).toList();
  }

  private List<StepResource> steps(JobId job) {
    return queries.stepsOverview(job).stream().map(StepResource::brief).toList();
  }

  private List<ArtifactResource> artifacts(JobId job) {
    return queries.artifacts(job).stream().map(ArtifactResource::of).toList();
  }

  private List<AttemptResource.Reported> attempts(JobId job) {
    Map<Integer, ReportedCompletion> reported =
        queries.reportedCompletions(job).stream()
            .collect(Collectors.toMap(ReportedCompletion::attempt, Function.identity()));
    return queries.attempts(job).stream()
        .map(each -> AttemptResource.Reported.of(each, reported.get(each.number())))
        .toList();
  }

  private <T> Answer only(Call call, String name, Function<JobId, List<T>> part) {
    return Answer.ok(Map.of(name, part.apply(job(queries, call).id())));
  }

  private Answer result(Call call) {
    return Answer.ok(JobResource.Outcome.of(job(queries, call)));
  }
}
