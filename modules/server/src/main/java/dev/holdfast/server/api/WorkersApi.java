package dev.holdfast.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.contract.operate.WorkerOperator;
import dev.holdfast.contract.request.PauseRequest;
import dev.holdfast.contract.resource.WorkerLogResource;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Workers, and the commands of operators for their processes. */
public final class WorkersApi {
  private static final Logger log = LoggerFactory.getLogger(WorkersApi.class);

  private final Operators operators;

  public WorkersApi(Operators operators) {
    this.operators = operators;
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

  private WorkerOperator workers(Call call) {
    return operators.of(call).workers();
  }

  /** The supervisor, if several have such a component, and the reason. */
  record CommandRequest(@Nullable String supervisor, @Nullable String reason) {
    CommandRequest {
      if (reason != null) {
        Limits.reason(reason);
      }
    }
  }

  private Answer list(Call call) {
    return Answer.ok(workers(call).list());
  }

  private Answer exits(Call call) {
    return Answer.ok(
        Map.of("exits", workers(call).exits(component(call), supervisor(call).orElse(null))));
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
    return Answer.ok(WorkerLogResource.of(workers(call).log(component(call), supervisor, after)));
  }

  private Answer pauseAllWorkers(Call call) {
    String reason = whyAll(call);
    workers(call).pauseAll(reason);
    log.info("all workers are paused by {}: {}", call.caller().name(), reason);
    return accepted(call, null, List.of());
  }

  private Answer resumeAllWorkers(Call call) {
    String reason = whyAll(call);
    WorkerOperator.Resumed resumed = workers(call).resumeAll(reason);
    log.info("all workers are resumed by {}: {}", call.caller().name(), reason);
    return accepted(call, resumed.workersWerePaused(), resumed.commands());
  }

  /** A client that may not do this is refused, whatever the body is. */
  private static String whyAll(Call call) {
    call.caller().mustSeeEveryTenant("a worker");
    return JobActionsApi.why(call.body(PauseRequest.class, PauseRequest.NONE).reason());
  }

  private Answer command(Call call, WorkerCommand.Action action) {
    call.caller().mustSeeEveryTenant("a worker");
    CommandRequest request = call.body(CommandRequest.class, new CommandRequest(null, null));
    List<WorkerCommand> commands =
        workers(call)
            .command(
                call.value("component"),
                request.supervisor(),
                action,
                JobActionsApi.why(request.reason()));
    return accepted(call, null, commands);
  }

  private Answer accepted(
      Call call, @Nullable Boolean workersWerePaused, List<WorkerCommand> commands) {
    return Answer.ok(
        new Accepted(workers(call).pausedAt().orElse(null), workersWerePaused, commands));
  }

  /**
   * The answer to commands to workers.
   *
   * @param workersPausedAt since when all workers are paused; null when they are not
   * @param workersWerePaused whether all workers were paused; only in the answer that resumes them
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  record Accepted(
      @Nullable Instant workersPausedAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean workersWerePaused,
      List<WorkerCommand> commands) {}
}
