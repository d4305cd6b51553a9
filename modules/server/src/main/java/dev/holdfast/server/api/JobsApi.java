package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.ArtifactResource;
import dev.holdfast.contract.resource.AttemptResource;
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
import dev.holdfast.model.job.JobPage;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queue;
import dev.holdfast.server.auth.Caller;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads jobs. Jobs of tenants that the caller may not see are answered as not found. */
public final class JobsApi {
  private static final int PAGE = 50;
  private static final int LARGEST_PAGE = 200;
  private static final int LONGEST_TEXT = 200;
  private static final int MOST_COUNTED = 10_000;
  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");
  private static final List<String> FILTERS =
      List.of(
          "state",
          "queue",
          "kind",
          "run",
          "parent",
          "tenant",
          "q",
          "createdAfter",
          "createdBefore");

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
        Route.get("/v1/jobs", Guard.READ, this::list).queries(with("brief", "limit", "cursor")),
        Route.get("/v1/jobs/count", Guard.READ, this::count).queries(with()),
        Route.get("/v1/jobs/{id}", Guard.READ, this::show).queries("with"),
        Route.get("/v1/jobs/{id}/timeline", Guard.READ, call -> only(call, EVENTS, this::events)),
        Route.get("/v1/jobs/{id}/log", Guard.READ, this::log).queries("after"),
        Route.get(
            "/v1/jobs/{id}/attempts", Guard.READ, call -> only(call, ATTEMPTS, this::attempts)),
        Route.get("/v1/jobs/{id}/steps", Guard.READ, call -> only(call, STEPS, this::steps)),
        Route.get(
            "/v1/jobs/{id}/artifacts", Guard.READ, call -> only(call, ARTIFACTS, this::artifacts)),
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

  /** Whose jobs are wanted, of those the caller may see; nothing when there are none. */
  static @Nullable JobFilter within(Caller caller, @Nullable String tenant, JobFilter filter) {
    if (tenant != null && !caller.sees(tenant)) {
      return null;
    }
    return filter.tenant(tenant == null ? caller.onlyTenant() : tenant);
  }

  private Answer list(Call call) {
    JobFilter filter =
        filter(call)
            .limit(call.whole("limit", PAGE, 1, LARGEST_PAGE))
            .resumed(call.query("cursor").map(JobsApi::cursor).orElse(null));
    JobFilter wanted = within(call, filter);
    boolean brief = call.query("brief").map(Boolean::parseBoolean).orElse(false);
    JobPage page =
        wanted == null
            ? new JobPage(List.of(), null, true)
            : brief ? queue.briefPage(wanted) : queue.page(wanted);
    return Answer.ok(JobResource.Page.of(page, brief, filter.text() != null));
  }

  private Answer count(Call call) {
    JobFilter wanted = within(call, filter(call));
    JobCount count = wanted == null ? new JobCount(0, false) : queue.count(wanted, MOST_COUNTED);
    return Answer.ok(Wire.object().put("jobs", count.jobs()).put("more", count.more()));
  }

  private static String[] with(String... others) {
    return Stream.concat(FILTERS.stream(), Stream.of(others)).toArray(String[]::new);
  }

  private static JobFilter filter(Call call) {
    return JobFilter.ALL
        .states(call.query("state").map(JobsApi::states).orElse(Set.of()))
        .queue(call.query("queue").map(Limits::queue).orElse(null))
        .kind(call.query("kind").map(Limits::kind).orElse(null))
        .run(call.query("run").map(JobId::parse).orElse(null))
        .parent(call.query("parent").map(JobId::parse).orElse(null))
        .text(call.query("q").map(JobsApi::text).orElse(null))
        .from(call.query("createdAfter").map(JobsApi::firstId).orElse(null))
        .before(call.query("createdBefore").map(JobsApi::firstId).orElse(null));
  }

  private static @Nullable JobFilter within(Call call, JobFilter filter) {
    String tenant = call.query("tenant").map(word -> Limits.word("tenant", word)).orElse(null);
    return within(call.caller(), tenant, filter);
  }

  /** By the time that ids begin with: by these pages go, and jobs are found fast. */
  static JobId firstId(String time) {
    try {
      Instant moment = OffsetDateTime.parse(time).toInstant();
      if (moment.isAfter(Instant.EPOCH) && moment.isBefore(LATEST)) {
        return JobId.firstOf(moment);
      }
    } catch (DateTimeException malformed) {
      // said below
    }
    throw new Problem(
        422, "invalid_value", "a time is written like 2026-11-15T10:05:00Z, with its offset");
  }

  static Set<JobState> states(String list) {
    EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
    for (String word : list.split(",", -1)) {
      try {
        states.add(JobState.valueOf(word.strip().toUpperCase(Locale.ROOT)));
      } catch (IllegalArgumentException unknown) {
        throw new Problem(
            422,
            "invalid_value",
            "a state is one of "
                + EnumSet.allOf(JobState.class).stream()
                    .map(JobState::name)
                    .collect(Collectors.joining(", ")));
      }
    }
    return states;
  }

  static JobId cursor(String text) {
    try {
      return JobId.parse(text);
    } catch (dev.holdfast.model.value.RefusedException notOne) {
      throw new Problem(422, "invalid_value", "the cursor is none that was given out here");
    }
  }

  static String text(String given) {
    if (given.isBlank() || given.length() > LONGEST_TEXT || given.indexOf('\0') >= 0) {
      throw new Problem(
          422,
          "invalid_value",
          "parameter 'q' must have 1 to %d characters, and no NUL".formatted(LONGEST_TEXT));
    }
    return given.strip();
  }

  private Answer show(Call call) {
    List<String> with = call.query("with").map(JobsApi::parts).orElse(List.of());
    JobStatus job = job(queue, call);
    JobId id = job.id();
    // A job that has ended has no commands: that query is saved.
    PendingCommand pending = job.state().isTerminal() ? PendingCommand.NONE : queue.control(id);
    return Answer.ok(
        new JobResource.Detail(
            JobResource.of(job),
            pending.equals(PendingCommand.NONE) ? null : PendingCommandResource.of(pending),
            with.contains(EVENTS) ? events(id) : null,
            with.contains(ATTEMPTS) ? attempts(id) : null,
            with.contains(STEPS) ? steps(id) : null,
            with.contains(ARTIFACTS) ? artifacts(id) : null));
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
    return Answer.ok(LogResource.of(queue.log(job(queue, call).id(), after)));
  }

  private List<EventResource> events(JobId job) {
    return queue.timeline(job).stream().map(EventResource::of).toList();
  }

  private List<StepResource> steps(JobId job) {
    return queue.stepsOverview(job).stream().map(StepResource::brief).toList();
  }

  private List<ArtifactResource> artifacts(JobId job) {
    return queue.artifacts(job).stream().map(ArtifactResource::of).toList();
  }

  private List<AttemptResource.Reported> attempts(JobId job) {
    Map<Integer, ReportedCompletion> reported =
        queue.told(job).stream()
            .collect(Collectors.toMap(ReportedCompletion::attempt, Function.identity()));
    return queue.attempts(job).stream()
        .map(each -> AttemptResource.Reported.of(each, reported.get(each.number())))
        .toList();
  }

  private <T> Answer only(Call call, String name, Function<JobId, List<T>> part) {
    return Answer.ok(Map.of(name, part.apply(job(queue, call).id())));
  }

  private Answer result(Call call) {
    return Answer.ok(JobResource.Outcome.of(job(queue, call)));
  }
}
