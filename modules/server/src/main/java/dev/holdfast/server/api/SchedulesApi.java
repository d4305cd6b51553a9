package dev.holdfast.server.api;

import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.contract.request.PauseRequest;
import dev.holdfast.contract.request.ScheduleRequest;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;
import java.util.Map;

/** Schedules. They belong to all tenants together. */
public final class SchedulesApi {
  private final Operators operators;

  public SchedulesApi(Operators operators) {
    this.operators = operators;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/schedules", Guard.READ, this::list),
        Route.get("/v1/schedules/{name}", Guard.READ, this::shown),
        Route.put("/v1/schedules/{name}", Guard.OPERATE, this::set),
        Route.delete("/v1/schedules/{name}", Guard.OPERATE, this::remove),
        Route.post("/v1/schedules/{name}/run", Guard.OPERATE, this::run).maxBody(Route.SMALL),
        Route.post("/v1/schedules/{name}/pause", Guard.OPERATE, this::pause).maxBody(Route.SMALL),
        Route.post("/v1/schedules/{name}/resume", Guard.OPERATE, this::resume)
            .maxBody(Route.SMALL));
  }

  private ScheduleOperator schedules(Call call) {
    return operators.of(call).schedules();
  }

  /** A client that may not see it is refused, whatever the body is. */
  private static String named(Call call) {
    call.caller().mustSeeEveryTenant("a schedule");
    return Limits.word("schedule", call.value("name"));
  }

  private Answer shown(Call call) {
    return Answer.ok(
        schedules(call)
            .find(named(call))
            .orElseThrow(() -> Problem.notFound("there is no schedule of that name")));
  }

  private Answer list(Call call) {
    return Answer.ok(Map.of("schedules", schedules(call).list()));
  }

  private Answer set(Call call) {
    String name = named(call);
    return Answer.ok(schedules(call).set(call.body(ScheduleRequest.class).schedule(name)));
  }

  private Answer remove(Call call) {
    Answer was = shown(call);
    schedules(call).remove(named(call));
    return was;
  }

  private Answer run(Call call) {
    String name = named(call);
    call.body(JobActionsApi.Nothing.class, new JobActionsApi.Nothing());
    return Answer.ok(schedules(call).run(name));
  }

  private Answer pause(Call call) {
    String name = named(call);
    PauseRequest why = call.body(PauseRequest.class, PauseRequest.NONE);
    schedules(call).pause(name, why.reason());
    return shown(call);
  }

  private Answer resume(Call call) {
    String name = named(call);
    call.body(PauseRequest.class, PauseRequest.NONE);
    schedules(call).resume(name);
    return shown(call);
  }
}
