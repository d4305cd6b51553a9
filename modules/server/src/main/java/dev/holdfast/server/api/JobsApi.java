package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.Shape;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobPage;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.queue.Queue;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads jobs. A job of another tenant is answered as one that does not exist. */
public final class JobsApi {
  private static final int PAGE = 50;
  private static final int LARGEST_PAGE = 200;
  private static final int MOST_COUNTED = 10_000;
  private static final String EVENTS = "events";
  private static final String ATTEMPTS = "attempts";
  private static final String STEPS = "steps";
  private static final String ARTIFACTS = "artifacts";
  private static final List<String> PARTS = List.of(EVENTS, ATTEMPTS, STEPS, ARTIFACTS);

  private final Queue queue;

  public JobsApi(Queue queue) {
    this.queue = queue;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/jobs", Guard.READ, this::list)
            .queries(JobFilterParameters.and("brief", "limit", "cursor")),
        Route.get("/v1/jobs/count", Guard.READ, this::count).queries(JobFilterParameters.and()),
        Route.get("/v1/jobs/{id}", Guard.READ, this::show).queries("with"),
        Route.get("/v1/jobs/{id}/timeline", Guard.READ, call -> only(call, EVENTS)),
        Route.get("/v1/jobs/{id}/log", Guard.READ, this::log).queries("after"),
        Route.get("/v1/jobs/{id}/attempts", Guard.READ, call -> only(call, ATTEMPTS)),
        Route.get("/v1/jobs/{id}/steps", Guard.READ, call -> only(call, STEPS)),
        Route.get("/v1/jobs/{id}/artifacts", Guard.READ, call -> only(call, ARTIFACTS)),
        Route.get("/v1/jobs/{id}/result", Guard.READ, this::result));
  }

  /** The job in the path, if there is one that the caller may see. */
  static JobStatus job(Queue queue, Call call) {
    return queue
        .find(call.id("id"))
        .filter(job -> call.caller().sees(job.tenant()))
        .orElseThrow(() -> unknown(call.id("id")));
  }

  static Problem unknown(JobId id) {
    return Problem.notFound("there is no job " + id);
  }

  private Answer list(Call call) {
    JobFilter filter =
        JobFilterParameters.filter(call)
            .limit(call.whole("limit", PAGE, 1, LARGEST_PAGE))
            .resumed(call.query("cursor").map(JobFilterParameters::cursor).orElse(null));
    JobFilter wanted = JobFilterParameters.within(call, filter);
    boolean brief = call.query("brief").map(Boolean::parseBoolean).orElse(false);
    JobPage page =
        wanted == null
            ? new JobPage(List.of(), null, true)
            : brief ? queue.briefPage(wanted) : queue.page(wanted);
    ObjectNode node = Wire.object();
    node.putArray("jobs")
        .addAll(page.jobs().stream().map(brief ? JobsApi::brief : Shape::job).toList());
    if (page.next() != null) {
      node.put("next", page.next().toString());
    }
    if (filter.text() != null || !page.allSearched()) {
      node.put("allSearched", page.allSearched());
    }
    return Answer.ok(node);
  }

  /** Without results, and without the list of what was left out, which the caller asked for. */
  private static ObjectNode brief(JobStatus job) {
    return Shape.job(job).without(List.of("omitted", "result"));
  }

  private Answer count(Call call) {
    JobFilter wanted = JobFilterParameters.within(call, JobFilterParameters.filter(call));
    JobCount count = wanted == null ? new JobCount(0, false) : queue.count(wanted, MOST_COUNTED);
    return Answer.ok(Wire.object().put("jobs", count.jobs()).put("more", count.more()));
  }

  private Answer show(Call call) {
    List<String> with = call.query("with").map(JobsApi::parts).orElse(List.of());
    JobStatus job = job(queue, call);
    ObjectNode node = Shape.job(job);
    // Only a job that has not ended can have a pending command.
    PendingCommand asked = job.state().isTerminal() ? PendingCommand.NONE : queue.control(job.id());
    if (!asked.equals(PendingCommand.NONE)) {
      node.set("liveControl", Shape.control(asked));
    }
    with.forEach(part -> node.putArray(part).addAll(part(job.id(), part)));
    return Answer.ok(node);
  }

  private static List<String> parts(String list) {
    List<String> parts = Stream.of(list.split(",", -1)).map(String::strip).distinct().toList();
    if (!PARTS.containsAll(parts)) {
      throw new Problem(
          422, "invalid_value", "parameter 'with' takes some of " + String.join(", ", PARTS));
    }
    return parts;
  }

  private Answer log(Call call) {
    LogCursor after = call.query("after").map(LogCursor::parse).orElse(LogCursor.START);
    return Answer.ok(Shape.log(queue.log(job(queue, call).id(), after)));
  }

  private List<ObjectNode> part(JobId job, String part) {
    return switch (part) {
      case EVENTS -> queue.timeline(job).stream().map(Shape::event).toList();
      case ATTEMPTS -> attempts(job);
      case STEPS -> queue.stepsOverview(job).stream().map(Shape::listed).toList();
      case ARTIFACTS -> queue.artifacts(job).stream().map(Shape::artifact).toList();
      default -> throw new IllegalArgumentException(part);
    };
  }

  private List<ObjectNode> attempts(JobId job) {
    Map<Integer, ReportedCompletion> told =
        queue.told(job).stream()
            .collect(Collectors.toMap(ReportedCompletion::attempt, Function.identity()));
    return queue.attempts(job).stream()
        .map(attempt -> Shape.attempt(attempt, told.get(attempt.number())))
        .toList();
  }

  private Answer only(Call call, String part) {
    JobId job = job(queue, call).id();
    ObjectNode node = Wire.object();
    node.putArray(part).addAll(part(job, part));
    return Answer.ok(node);
  }

  private Answer result(Call call) {
    JobStatus job = job(queue, call);
    ObjectNode node = Wire.object().put("state", job.state().name());
    node.set("result", Wire.tree(job.result()));
    // Failures of attempts before the one that succeeded are in the attempts.
    node.set("failure", Shape.failure(job.state() == JobState.SUCCEEDED ? null : job.failure()));
    return Answer.ok(node);
  }
}
