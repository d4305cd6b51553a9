package dev.holdfast.server.api;

import dev.holdfast.contract.resource.EnqueuedResource;
import dev.holdfast.contract.resource.QueueResource;
import dev.holdfast.contract.resource.ScheduleRequest;
import dev.holdfast.contract.resource.ScheduleResource;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Admin;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Schedules. They belong to no tenant, so only keys for all tenants may use them. */
public final class SchedulesApi {
  private final Admin admin;

  public SchedulesApi(Admin admin) {
    this.admin = admin;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/schedules", Guard.READ, this::list),
        Route.get("/v1/schedules/{name}", Guard.READ, call -> shown(named(call))),
        Route.put("/v1/schedules/{name}", Guard.OPERATE, this::set),
        Route.delete("/v1/schedules/{name}", Guard.OPERATE, this::remove),
        Route.post("/v1/schedules/{name}/run", Guard.OPERATE, this::run).maxBody(Route.SMALL),
        Route.post("/v1/schedules/{name}/pause", Guard.OPERATE, this::pause).maxBody(Route.SMALL),
        Route.post("/v1/schedules/{name}/resume", Guard.OPERATE, this::resume)
            .maxBody(Route.SMALL));
  }

  private Optional<ScheduleStatus> find(String name) {
    return admin.schedules().stream().filter(status -> status.name().equals(name)).findFirst();
  }

  private Answer shown(String name) {
    ScheduleStatus status = find(name).orElseThrow(SchedulesApi::unknown);
    return Answer.ok(ScheduleResource.of(status, admin.schedulePauses().get(name)));
  }

  private static Problem unknown() {
    return Problem.notFound("there is no schedule of that name");
  }

  private Answer run(Call call) {
    String name = named(call);
    call.body(OperateApi.Nothing.class, new OperateApi.Nothing());
    return Answer.ok(
        EnqueuedResource.of(admin.runSchedule(name).orElseThrow(SchedulesApi::unknown)));
  }

  private static String named(Call call) {
    call.caller().mustSeeEveryTenant("a schedule");
    return Limits.word("schedule", call.value("name"));
  }

  private Answer list(Call call) {
    call.caller().mustSeeEveryTenant("a schedule");
    Map<String, Pause> pauses = admin.schedulePauses();
    return Answer.ok(
        new ScheduleResource.Schedules(
            admin.schedules().stream()
                .map(status -> ScheduleResource.of(status, pauses.get(status.name())))
                .toList()));
  }

  private Answer set(Call call) {
    String name = named(call);
    admin.schedule(call.body(ScheduleRequest.class).schedule(name));
    return shown(name);
  }

  private Answer remove(Call call) {
    String name = named(call);
    Answer was = shown(name);
    admin.removeSchedule(name);
    return was;
  }

  private Answer pause(Call call) {
    String name = named(call);
    QueueResource.PauseRequest why =
        call.body(QueueResource.PauseRequest.class, QueueResource.PauseRequest.NONE);
    admin.pauseSchedule(name, why.by(call.caller().name()));
    return shown(name);
  }

  private Answer resume(Call call) {
    String name = named(call);
    call.body(QueueResource.PauseRequest.class, QueueResource.PauseRequest.NONE);
    admin.resumeSchedule(name);
    return shown(name);
  }
}
