package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.json.WireException;
import dev.holdfast.contract.resource.CancellationResource;
import dev.holdfast.contract.resource.JobPatch;
import dev.holdfast.contract.resource.JobResource;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Cancels and retries jobs, one or many; changes and deletes one. */
public final class OperateApi {
  private static final String REASON = "requested over HTTP";

  private final JobQueue queue;
  private final Queries queries;
  private final InstantSource clock;

  public OperateApi(JobQueue queue, Queries queries, InstantSource clock) {
    this.queue = queue;
    this.queries = queries;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/jobs/cancel", Guard.OPERATE, this::cancelMany).maxBody(Route.SMALL),
        Route.post("/v1/jobs/retry", Guard.OPERATE, this::retryMany).maxBody(Route.SMALL),
        Route.patch("/v1/jobs/{id}", Guard.OPERATE, this::edit),
        Route.delete("/v1/jobs/{id}", Guard.OPERATE, this::delete),
        Route.post("/v1/jobs/{id}/cancel", Guard.OPERATE, this::cancel).maxBody(Route.SMALL),
        Route.post("/v1/jobs/{id}/retry", Guard.OPERATE, this::retry).maxBody(Route.SMALL));
  }

  /** The reason, and whether the job's children are cancelled too. */
  record CancelRequest(@Nullable String reason, @Nullable Boolean cascade) {
    CancelRequest {
      checkReason(reason);
    }

    boolean cascades() {
      return cascade != null && cascade;
    }
  }

  static void checkReason(@Nullable String reason) {
    if (reason != null) {
      Limits.reason(reason);
    }
  }

  static String why(@Nullable String reason) {
    return reason == null ? REASON : reason;
  }

  /** No fields. */
  record Nothing() {}

  /** The same filter as the parameters of the list of jobs. */
  record Chosen(
      @Nullable String state,
      @Nullable String queue,
      @Nullable String kind,
      @Nullable JobId runId,
      @Nullable String tag,
      @Nullable String search,
      @Nullable String q,
      @Nullable String createdAfter,
      @Nullable String createdBefore) {
    Chosen {
      q = q == null ? null : JobFilterParameters.text(q);
      queue = queue == null ? null : Limits.queue(queue);
      kind = kind == null ? null : Limits.kind(kind);
      if (Stream.of(state, queue, kind, runId, tag, search, q, createdAfter, createdBefore)
          .allMatch(Objects::isNull)) {
        throw new WireException(
            WireException.Kind.WRONG_VALUE,
            "field 'filter' must have a state, queue, kind, runId, tag, text or time in it");
      }
    }

    /**
     * @param now what ages in a search are counted from
     */
    JobFilter filter(Set<JobState> unlessGiven, Set<JobState> possible, Instant now) {
      JobFilter found = search == null ? JobFilter.ALL : SearchSyntax.parse(search, now);
      Set<JobState> given = state == null ? found.states() : JobFilterParameters.states(state);
      Set<JobState> states = given.isEmpty() ? unlessGiven : given;
      if (!possible.containsAll(states)) {
        throw new Problem(
            422, "invalid_value", "this can only be done to jobs that are " + possible);
      }
      return found
          .states(states)
          .queue(queue == null ? found.queue() : queue)
          .kind(kind == null ? found.kind() : kind)
          .run(runId == null ? found.run() : runId)
          .tag(tag == null ? found.tag() : tag)
          .text(q == null ? found.content().text() : q)
          .from(createdAfter == null ? found.from() : JobFilterParameters.moment(createdAfter))
          .before(
              createdBefore == null ? found.before() : JobFilterParameters.moment(createdBefore))
          .limit(JobFilter.MOST);
    }
  }

  /** Many jobs, by ids or by a filter; by a filter page after page. */
  record Many(
      @Nullable List<JobId> ids,
      @Nullable Chosen filter,
      @Nullable JobCursor cursor,
      @Nullable String reason,
      @Nullable Boolean cascade) {
    Many {
      ids = ids == null ? null : List.copyOf(new LinkedHashSet<>(ids));
      if ((ids == null) == (filter == null)) {
        throw new WireException(
            WireException.Kind.WRONG_VALUE, "either 'ids' or 'filter' must be given");
      }
      if (ids != null && (ids.isEmpty() || ids.size() > JobFilter.MOST)) {
        throw new WireException(
            WireException.Kind.WRONG_VALUE,
            "field 'ids' must have 1 to %,d ids".formatted(JobFilter.MOST));
      }
      if (ids != null && cursor != null) {
        throw new WireException(WireException.Kind.WRONG_VALUE, "field 'cursor' needs 'filter'");
      }
    }
  }

  private record Page(List<JobId> ids, @Nullable JobCursor next) {}

  private Page page(Call call, Many many, Set<JobState> unlessGiven, Set<JobState> possible) {
    if (many.filter() == null) {
      return new Page(many.ids() == null ? List.of() : many.ids(), null);
    }
    JobFilter filter = many.filter().filter(unlessGiven, possible, clock.instant());
    JobFilter wanted = JobFilterParameters.within(call.caller(), filter.tenant(), filter);
    if (wanted == null) {
      return new Page(List.of(), null);
    }
    JobPage page = queries.briefPage(wanted.resumed(many.cursor()));
    return new Page(page.jobs().stream().map(JobStatus::id).toList(), page.next());
  }

  private Answer cancel(Call call) {
    CancelRequest request = call.body(CancelRequest.class, new CancelRequest(null, null));
    JobId id = call.id("id");
    List<Cancellation> all =
        queue.cancel(
            List.of(id), request.cascades(), why(request.reason()), call.caller().tenant());
    Cancellation own =
        all.stream()
            .filter(each -> each.job().equals(id))
            .findFirst()
            .orElseThrow(() -> JobsApi.unknown(id));
    if (all.stream().allMatch(c -> c.outcome() == Cancellation.Outcome.ALREADY_TERMINAL)) {
      throw new Problem(
              409, "job_already_terminal", "the job has already ended: " + own.previousState())
          .with("state", own.previousState().name());
    }
    return Answer.ok(
        new CancellationResource.Cancellations(
            all.stream().map(CancellationResource::of).toList()));
  }

  private Answer cancelMany(Call call) {
    Many many = call.body(Many.class);
    CancelRequest how = new CancelRequest(many.reason(), many.cascade());
    Page page = page(call, many, JobState.ACTIVE, JobState.ACTIVE);
    List<Cancellation> all =
        queue.cancel(page.ids(), how.cascades(), why(how.reason()), call.caller().tenant());
    Set<JobId> asked = new LinkedHashSet<>(page.ids());
    all.forEach(each -> asked.remove(each.job()));
    ObjectNode node =
        Wire.object()
            .put("cancelled", count(all, Cancellation.Outcome.CANCELLED))
            .put("requested", count(all, Cancellation.Outcome.REQUESTED))
            .put("alreadyRequested", count(all, Cancellation.Outcome.ALREADY_REQUESTED))
            .put("alreadyTerminal", count(all, Cancellation.Outcome.ALREADY_TERMINAL))
            .put("notFound", asked.size());
    return Answer.ok(withNext(node, page));
  }

  private static long count(List<Cancellation> all, Cancellation.Outcome outcome) {
    return all.stream().filter(each -> each.outcome() == outcome).count();
  }

  private static ObjectNode withNext(ObjectNode node, Page page) {
    return page.next() == null ? node : node.put("next", page.next().toString());
  }

  private Answer edit(Call call) {
    JobId id = call.id("id");
    JobEdit.Answer answer =
        queue
            .edit(id, call.body(JobPatch.class).edit(), call.caller().tenant())
            .orElseThrow(() -> JobsApi.unknown(id));
    return switch (answer.outcome()) {
      case EDITED -> Answer.ok(JobResource.of(JobsApi.job(queries, call)));
      case ALREADY_RUNNING ->
          throw conflict(
              "job_running", "a worker has claimed the job: nothing was changed", answer);
      case ALREADY_TERMINAL ->
          throw conflict(
              "job_already_terminal", "the job has already ended: nothing was changed", answer);
    };
  }

  private static Problem conflict(String error, String message, JobEdit.Answer answer) {
    return new Problem(409, error, message).with("state", answer.state().name());
  }

  private Answer delete(Call call) {
    JobId id = call.id("id");
    Deletion deletion =
        queue.delete(id, call.caller().tenant()).orElseThrow(() -> JobsApi.unknown(id));
    return switch (deletion.outcome()) {
      case DELETED ->
          Answer.ok(Wire.object().put("id", id.toString()).put("state", deletion.state().name()));
      case RUNNING ->
          throw new Problem(409, "job_running", "the job runs: cancel it first")
              .with("state", deletion.state().name());
      case AWAITED ->
          throw new Problem(
                  409,
                  "job_awaited",
                  "other jobs wait for how this one ends: cancel it, or delete them first")
              .with("state", deletion.state().name());
    };
  }

  private Answer retry(Call call) {
    call.body(Nothing.class, new Nothing());
    JobId id = call.id("id");
    if (queue.retry(List.of(id), call.caller().tenant()).isEmpty()) {
      JobState state = JobsApi.job(queries, call).state();
      throw new Problem(
              409,
              "job_not_retryable",
              "the job is " + state + ": only FAILED and CANCELLED jobs can be retried")
          .with("state", state.name());
    }
    return Answer.ok(Wire.object().put("id", id.toString()).put("state", JobState.PENDING.name()));
  }

  private Answer retryMany(Call call) {
    Many many = call.body(Many.class);
    if (many.reason() != null || many.cascade() != null) {
      throw new Problem(422, "invalid_value", "a retry has no 'reason' and no 'cascade'");
    }
    Page page = page(call, many, EnumSet.of(JobState.FAILED), JobState.RETRYABLE);
    Set<JobId> retried = queue.retry(page.ids(), call.caller().tenant());
    List<JobId> others = page.ids().stream().filter(id -> !retried.contains(id)).toList();
    long refused =
        queries.states(others).stream()
            .filter(snapshot -> call.caller().sees(snapshot.tenant()))
            .count();
    ObjectNode node =
        Wire.object()
            .put("retried", retried.size())
            .put("refused", refused)
            .put("notFound", others.size() - refused);
    return Answer.ok(withNext(node, page));
  }
}
