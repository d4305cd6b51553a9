package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.OperatorException.Reason;
import dev.holdfast.contract.request.BulkRequest;
import dev.holdfast.contract.request.CancelRequest;
import dev.holdfast.contract.request.CommandRequest;
import dev.holdfast.contract.request.DecisionRequest;
import dev.holdfast.contract.request.ForkRequest;
import dev.holdfast.contract.request.JobPatch;
import dev.holdfast.contract.request.KeySignalRequest;
import dev.holdfast.contract.request.LinkRequest;
import dev.holdfast.contract.request.SignalRequest;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.ExceptionProblems;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Cancels and retries jobs, one or many; changes, deletes and commands one. */
public final class JobActionsApi {
  private static final String REASON = "requested over HTTP";

  private final Operators operators;
  private final InstantSource clock;

  public JobActionsApi(Operators operators, InstantSource clock) {
    this.operators = operators;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(
        Route.post("/v1/jobs/cancel", Guard.OPERATE, this::cancelMany).maxBody(Route.SMALL),
        Route.post("/v1/jobs/retry", Guard.OPERATE, this::retryMany).maxBody(Route.SMALL),
        Route.patch("/v1/jobs/{id}", Guard.OPERATE, this::edit),
        Route.delete("/v1/jobs/{id}", Guard.OPERATE, this::delete),
        Route.post("/v1/jobs/{id}/cancel", Guard.OPERATE, this::cancel).maxBody(Route.SMALL),
        Route.post("/v1/jobs/{id}/retry", Guard.OPERATE, this::retry).maxBody(Route.SMALL),
        Route.post("/v1/jobs/{id}/signals", Guard.SUBMIT, this::signal),
        Route.post("/v1/signals", Guard.SUBMIT, this::signalByKey),
        Route.post("/v1/jobs/{id}/fork", Guard.OPERATE, this::fork),
        Route.post("/v1/jobs/{id}/decisions", Guard.OPERATE, this::decide).maxBody(Route.SMALL),
        Route.post("/v1/jobs/{id}/links", Guard.OPERATE, this::link).maxBody(Route.SMALL),
        Route.post("/v1/jobs/{id}/control", Guard.OPERATE, this::command).maxBody(Route.SMALL));
  }

  private JobOperator jobs(Call call) {
    return operators.of(call).jobs();
  }

  static String why(@Nullable String reason) {
    return reason == null ? REASON : reason;
  }

  /** No fields. */
  record Nothing() {}

  private Answer cancel(Call call) {
    CancelRequest request = call.body(CancelRequest.class, CancelRequest.NONE);
    return Answer.ok(
        Map.of(
            "jobs", jobs(call).cancel(call.id("id"), request.cascades(), why(request.reason()))));
  }

  private Answer cancelMany(Call call) {
    BulkRequest many = call.body(BulkRequest.class);
    return Answer.ok(
        jobs(call).cancel(many.selection(clock.instant()), many.cascades(), why(many.reason())));
  }

  private Answer retry(Call call) {
    call.body(Nothing.class, new Nothing());
    JobId id = call.id("id");
    jobs(call).retry(id);
    return Answer.ok(Wire.object().put("id", id.toString()).put("state", JobState.PENDING.name()));
  }

  private Answer retryMany(Call call) {
    BulkRequest many = call.body(BulkRequest.class);
    if (many.reason() != null || many.cascade() != null) {
      throw new Problem(422, "invalid_value", "a retry has no 'reason' and no 'cascade'");
    }
    return Answer.ok(jobs(call).retry(many.selection(clock.instant())));
  }

  private Answer edit(Call call) {
    return Answer.ok(jobs(call).edit(call.id("id"), call.body(JobPatch.class).edit()));
  }

  private Answer delete(Call call) {
    JobId id = call.id("id");
    return Answer.ok(
        Wire.object().put("id", id.toString()).put("state", jobs(call).delete(id).name()));
  }

  private Answer signal(Call call) {
    SignalRequest said = call.body(SignalRequest.class);
    Json payload = said.payload() == null ? Json.EMPTY : said.payload();
    return Answer.ok(
        new SignalRequest.Answer(
            jobs(call).signal(call.id("id"), said.name(), payload, said.key())));
  }

  private Answer signalByKey(Call call) {
    KeySignalRequest said = call.body(KeySignalRequest.class);
    Json payload = said.payload() == null ? Json.EMPTY : said.payload();
    return Answer.ok(
        jobs(call)
            .signal(
                said.kind(), said.uniqueKey(), said.tenant(), said.name(), payload, said.key()));
  }

  private Answer fork(Call call) {
    return Answer.ok(jobs(call).fork(call.id("id"), call.body(ForkRequest.class).fork()));
  }

  private Answer decide(Call call) {
    DecisionRequest said = call.body(DecisionRequest.class);
    JobId id = call.id("id");
    jobs(call)
        .decide(
            id,
            said.waitId(),
            Boolean.TRUE.equals(said.approved()),
            said.comment() == null ? "" : said.comment());
    return Answer.ok(Wire.object().put("id", id.toString()).put("waitId", said.waitId()));
  }

  private Answer link(Call call) {
    LinkRequest asked = call.body(LinkRequest.class);
    return Answer.ok(jobs(call).link(call.id("id"), asked.waitId()));
  }

  private Answer command(Call call) {
    CommandRequest request = call.body(CommandRequest.class);
    JobId id = call.id("id");
    try {
      return Answer.ok(
          jobs(call).command(id, request.commandAction(), request.stepId(), why(request.reason())));
    } catch (OperatorException refused) {
      throw ExceptionProblems.refused(refused, hint(id, refused));
    }
  }

  /** What to do instead, over HTTP. */
  private static String hint(JobId id, OperatorException refused) {
    JobState state = refused.state().orElse(null);
    if (refused.reason() == Reason.NO_SUCH_STEP) {
      return ": GET /v1/jobs/%s/steps lists those that have started".formatted(id);
    }
    if (refused.reason() != Reason.JOB_ALREADY_TERMINAL || state == null) {
      return "";
    }
    return ": %s; ".formatted(state)
        + (JobState.RETRYABLE.contains(state)
            ? "POST /v1/jobs/%s/retry requeues it, resume_from_step from one of its steps"
                .formatted(id)
            : "resume_from_step requeues it from one of its steps");
  }
}
