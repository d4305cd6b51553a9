package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.Shape;
import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.queue.Queue;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Workers, and the commands of operators for their processes. */
public final class WorkersApi {
  private static final Logger log = LoggerFactory.getLogger(WorkersApi.class);

  private final Queue queue;

  public WorkersApi(Queue queue) {
    this.queue = queue;
  }

  public List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    routes.add(Route.get("/v1/workers", Guard.READ, this::list));
    routes.add(post("/v1/workers/pause", this::pauseAll));
    routes.add(post("/v1/workers/resume", this::resumeAll));
    for (WorkerCommand.Action action : WorkerCommand.Action.values()) {
      routes.add(post("/v1/workers/{component}/" + action.text(), call -> order(call, action)));
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
  record OrderRequest(@Nullable String supervisor, @Nullable String reason) {
    OrderRequest {
      OperateApi.checkReason(reason);
    }
  }

  private Answer list(Call call) {
    ObjectNode node = paused();
    node.putArray("workers")
        .addAll(queue.crew(call.caller().onlyTenant()).all().stream().map(Shape::worker).toList());
    return Answer.ok(node);
  }

  private ObjectNode paused() {
    return Wire.object()
        .put("pausedSince", queue.allPausedSince().map(Object::toString).orElse(null));
  }

  private Answer pauseAll(Call call) {
    String reason = whyAll(call);
    queue.pauseAll();
    log.info("all workers are paused by {}: {}", call.caller().name(), reason);
    return ordered(paused(), List.of());
  }

  private Answer resumeAll(Call call) {
    String reason = whyAll(call);
    boolean was = queue.resumeAll();
    List<WorkerCommand> orders = queue.health().resumeFailed(call.caller().name(), reason);
    log.info("all workers are resumed by {}: {}", call.caller().name(), reason);
    return ordered(paused().put("wasPaused", was), orders);
  }

  private static String whyAll(Call call) {
    call.caller().mustSeeEveryTenant("a worker");
    return OperateApi.why(call.body(AllRequest.class, new AllRequest(null)).reason());
  }

  private Answer order(Call call, WorkerCommand.Action action) {
    call.caller().mustSeeEveryTenant("a worker");
    OrderRequest request = call.body(OrderRequest.class, new OrderRequest(null, null));
    WorkerCommand.Draft draft =
        new WorkerCommand.Draft(
            call.value("component"),
            request.supervisor(),
            action,
            call.caller().name(),
            OperateApi.why(request.reason()));
    return switch (queue.health().ask(queue.crew(null), draft)) {
      case AcceptedWorkerCommand.Given(var orders) -> ordered(paused(), orders);
      case AcceptedWorkerCommand.Unknown(var message) -> throw Problem.notFound(message);
      case AcceptedWorkerCommand.Refused(var code, var message) ->
          throw new Problem(409, code, message);
    };
  }

  private static Answer ordered(ObjectNode node, List<WorkerCommand> orders) {
    node.putArray("orders").addAll(orders.stream().map(Shape::order).toList());
    return Answer.ok(node);
  }
}
