package dev.holdfast.server.api;

import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.JobSearch;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.resource.JobDetailResource;
import dev.holdfast.contract.resource.OutcomeResource;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobIdMatches;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads jobs. */
public final class JobsApi {
  private static final int PAGE = 50;
  private static final int LARGEST_PAGE = 200;

  private final Operators operators;
  private final InstantSource clock;

  public JobsApi(Operators operators, InstantSource clock) {
    this.operators = operators;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/jobs", Guard.READ, this::list)
            .queries(filterAnd("brief", "order", "limit", "cursor")),
        Route.get("/v1/jobs/count", Guard.READ, this::count).queries(filterAnd()),
        Route.get("/v1/jobs/ids", Guard.READ, this::ids).queries("part"),
        Route.get("/v1/jobs/counts", Guard.READ, this::counts).queries(filterAnd()),
        Route.get("/v1/jobs/{id}", Guard.READ, this::show).queries("include"),
        Route.get("/v1/jobs/{id}/timeline", Guard.READ, part(JobDetail.Part.EVENTS)),
        Route.get("/v1/jobs/{id}/attempts", Guard.READ, part(JobDetail.Part.ATTEMPTS)),
        Route.get("/v1/jobs/{id}/steps", Guard.READ, part(JobDetail.Part.STEPS)),
        Route.get("/v1/jobs/{id}/artifacts", Guard.READ, part(JobDetail.Part.ARTIFACTS)),
        Route.get("/v1/jobs/{id}/dependencies", Guard.READ, this::dependencies),
        Route.get("/v1/jobs/{id}/log", Guard.READ, this::log).queries("cursor"),
        Route.get("/v1/jobs/{id}/steps/{stepId}", Guard.READ, this::step),
        Route.get("/v1/jobs/{id}/steps/{stepId}/patch", Guard.READ, this::patch),
        Route.get("/v1/jobs/{id}/patch", Guard.READ, this::patches),
        Route.get("/v1/jobs/{id}/result", Guard.READ, this::result));
  }

  private JobOperator jobs(Call call) {
    return operators.of(call).jobs();
  }

  private JobStatus job(Call call) {
    JobId id = call.id("id");
    return jobs(call).find(id).orElseThrow(() -> OperatorException.noSuchJob(id));
  }

  /** The names of the parameters of a filter, and others. */
  private static String[] filterAnd(String... others) {
    return Stream.concat(JobSearch.NAMES.stream(), Stream.of(others)).toArray(String[]::new);
  }

  private JobFilter filter(Call call) {
    return JobSearch.of(call::query).filter(clock.instant());
  }

  static JobCursor cursor(String text) {
    try {
      return JobCursor.parse(text);
    } catch (RefusedException notOne) {
      throw new Problem(422, "invalid_value", "the cursor is not one that this server returned");
    }
  }

  /** Only what an index has: others would read all jobs to sort them. */
  private static boolean oldestFirst(String order) {
    return switch (order) {
      case "newest" -> false;
      case "oldest" -> true;
      default ->
          throw new Problem(422, "invalid_value", "parameter 'order' is one of newest, oldest");
    };
  }

  private Answer list(Call call) {
    JobFilter filter =
        filter(call)
            .oldestFirst(call.query("order").map(JobsApi::oldestFirst).orElse(false))
            .limit(call.whole("limit", PAGE, 1, LARGEST_PAGE))
            .resumed(call.query("cursor").map(JobsApi::cursor).orElse(null));
    return Answer.ok(jobs(call).page(filter, call.flag("brief")));
  }

  private Answer count(Call call) {
    return Answer.ok(jobs(call).count(filter(call)));
  }

  private Answer counts(Call call) {
    return Answer.ok(jobs(call).counts(filter(call)));
  }

  private Answer ids(Call call) {
    String part =
        call.query("part")
            .map(JobIdMatches::part)
            .orElseThrow(() -> new Problem(422, "invalid_value", "parameter 'part' is missing"));
    return Answer.ok(jobs(call).idsLike(part));
  }

  private Answer show(Call call) {
    Set<JobDetail.Part> parts =
        call.query("include").map(JobsApi::parts).orElse(EnumSet.noneOf(JobDetail.Part.class));
    return Answer.ok(detail(call, parts));
  }

  private JobDetailResource detail(Call call, Set<JobDetail.Part> parts) {
    JobId id = call.id("id");
    JobDetail detail =
        jobs(call).show(id, parts).orElseThrow(() -> OperatorException.noSuchJob(id));
    return JobDetailResource.of(detail, parts);
  }

  private static Set<JobDetail.Part> parts(String list) {
    Set<JobDetail.Part> parts = EnumSet.noneOf(JobDetail.Part.class);
    for (String word : list.split(",", -1)) {
      parts.add(
          Stream.of(JobDetail.Part.values())
              .filter(each -> each.text().equals(word.strip()))
              .findFirst()
              .orElseThrow(
                  () ->
                      new Problem(
                          422,
                          "invalid_value",
                          "parameter 'include' takes some of "
                              + Stream.of(JobDetail.Part.values())
                                  .map(JobDetail.Part::text)
                                  .collect(Collectors.joining(", ")))));
    }
    return parts;
  }

  /** One part of a job, without the job. */
  private Route.Action part(JobDetail.Part part) {
    return call -> Answer.ok(detail(call, EnumSet.of(part)).only());
  }

  private Answer dependencies(Call call) {
    return Answer.ok(
        Objects.requireNonNull(
            detail(call, EnumSet.of(JobDetail.Part.DEPENDENCIES)).dependencies()));
  }

  private Answer log(Call call) {
    LogCursor after = call.query("cursor").map(LogCursor::parse).orElse(LogCursor.START);
    return Answer.ok(jobs(call).log(call.id("id"), after));
  }

  private Answer step(Call call) {
    String step = Limits.stepId(call.value("stepId"));
    return Answer.ok(
        jobs(call)
            .step(call.id("id"), step)
            .orElseThrow(() -> Problem.notFound("step '" + step + "' has not begun")));
  }

  private Answer patch(Call call) {
    String step = Limits.stepId(call.value("stepId"));
    Patch patch =
        jobs(call)
            .patch(call.id("id"), step)
            .orElseThrow(() -> Problem.notFound("step '" + step + "' has left no patch"));
    // A step's id may contain two characters that have a meaning in a path.
    return download(patch, step.replace('/', '-').replace(':', '-'));
  }

  private Answer patches(Call call) {
    JobId job = call.id("id");
    Patch all =
        jobs(call)
            .patch(job, null)
            .orElseThrow(() -> Problem.notFound("no step of job " + job + " has left a patch"));
    return download(all, job.toString());
  }

  private static Answer download(Patch patch, String name) {
    return Answer.text(200, "text/x-patch", patch.bytes())
        .header("Content-Disposition", "attachment; filename=\"" + name + ".patch\"");
  }

  private Answer result(Call call) {
    return Answer.ok(OutcomeResource.of(job(call)));
  }
}
