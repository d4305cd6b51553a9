package dev.holdfast.server.api;

import dev.holdfast.contract.resource.QueueResource;
import dev.holdfast.contract.resource.WorkerCommandResource;
import dev.holdfast.contract.resource.WorkerExitResource;
import dev.holdfast.contract.resource.WorkerLogResource;
import dev.holdfast.contract.resource.WorkerResource;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Workers, and the commands of operators for their processes. */
public final class WorkersApi {
  private static final Logger log = LoggerFactory.getLogger(WorkersApi.class);

  private final JobStore store;

  public WorkersApi(JobStore store) {
    this.store = store;
  }

  public List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    routes.add(Route.get("/v1/workers", Guard.READ, this::list));
    routes.add(
        Route.get("/v1/workers/{component}/exits", Guard.READ, this::exits).queries("supervisor"));
    routes.add(
        Route.get("/v1/workers/{component}/log", Guard.READ, this::log)
            .queries("supervisor", "cursor"));
    routes.add(post("/v1/workers/pause", this::pauseAllWorkers));
    routes.add(post("/v1/workers/resume", this::resumeAllWorkers));
    for (WorkerCommand.Action action : WorkerCommand.Action.values()) {
      routes.add(post("/v1/workers/{component}/" + action.text(), call -> command(call, action)));
    }
    return routes;
  }

  private static Route post(String template, Route.Action action) {
    return Route.post(template, Guard.OPERATE, action).maxBody(Route.SMALL);
  }

  /** The reason. */
  record AllRequest(@Nullable String reason) {
    AllRequest {
      OperateApi.checkReason(reason);
    }
  }

  /** The supervisor, if several have such a component, and the reason. */
  record CommandRequest(@Nullable String supervisor, @Nullable String reason) {
    CommandRequest {
      OperateApi.checkReason(reason);
    }
  }

  private Answer list(Call call) {
    return Answer.ok(
        new WorkerResource.Workers(
            workersPausedAt(),
            call.caller().seesEveryTenant()
                ? QueueResource.Paused.of(store.admin().workersPause().orElse(null))
                : null,
            store.workers().readings().fleet(call.caller().tenant()).all().stream()
                .map(WorkerResource::of)
                .toList()));
  }

  private Answer exits(Call call) {
    call.caller().mustSeeEveryTenant("a worker");
    return Answer.ok(
        WorkerExitResource.Exits.of(
            store.workers().exits().of(component(call), supervisor(call).orElse(null))));
  }

  private static String component(Call call) {
    return storable("component", call.value("component"));
  }

  private static Optional<String> supervisor(Call call) {
    return call.query("supervisor").map(name -> storable("supervisor", name));
  }

  /** PostgreSQL has no texts with this character, so nothing can have such a name. */
  private static String storable(String parameter, String name) {
    if (name.indexOf('\0') >= 0) {
      throw new Problem(422, "bad_name", "'" + parameter + "' must not contain a NUL character");
    }
    return name;
  }

  /** Workers of several supervisors may have the same component, but each log is one worker's. */
  private Answer log(Call call) {
    call.caller().mustSeeEveryTenant("a worker");
    String supervisor =
        supervisor(call)
            .orElseThrow(
                () -> new Problem(422, "invalid_value", "parameter 'supervisor' is missing"));
    LogCursor after = call.query("cursor").map(LogCursor::parse).orElse(LogCursor.START);
    WorkerLogs.Name worker = new WorkerLogs.Name(supervisor, component(call));
    return Answer.ok(WorkerLogResource.of(store.workers().logs().read(worker, after)));
  }

  private @Nullable Instant workersPausedAt() {
    return store.admin().workersPausedAt().orElse(null);
  }

  private Answer pauseAllWorkers(Call call) {
    String reason = whyAll(call);
    store.admin().pauseAllWorkers(new Pause.Draft(call.caller().name(), reason));
    log.info("all workers are paused by {}: {}", call.caller().name(), reason);
    return accepted(null, List.of());
  }

  private Answer resumeAllWorkers(Call call) {
    String reason = whyAll(call);
    boolean was = store.admin().resumeAllWorkers();
    List<WorkerCommand> commands =
        store.workers().commands().resumeFailed(call.caller().name(), reason);
    log.info("all workers are resumed by {}: {}", call.caller().name(), reason);
    return accepted(was, commands);
  }

  private static String whyAll(Call call) {
    call.caller().mustSeeEveryTenant("a worker");
    return OperateApi.why(call.body(AllRequest.class, new AllRequest(null)).reason());
  }

  private Answer command(Call call, WorkerCommand.Action action) {
    call.caller().mustSeeEveryTenant("a worker");
    CommandRequest request = call.body(CommandRequest.class, new CommandRequest(null, null));
    WorkerCommand.Draft draft =
        new WorkerCommand.Draft(
            call.value("component"),
            request.supervisor(),
            action,
            call.caller().name(),
            OperateApi.why(request.reason()));
    return switch (store.workers().commands().ask(store.workers().readings().fleet(null), draft)) {
      case AcceptedWorkerCommand.Given(var commands) -> accepted(null, commands);
      case AcceptedWorkerCommand.Unknown(var message) -> throw Problem.notFound(message);
      case AcceptedWorkerCommand.Refused(var code, var message) ->
          throw new Problem(409, code, message);
    };
  }

  private Answer accepted(@Nullable Boolean workersWerePaused, List<WorkerCommand> commands) {
    return Answer.ok(
        WorkerCommandResource.Accepted.of(workersPausedAt(), workersWerePaused, commands));
  }
}
