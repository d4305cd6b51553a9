package dev.holdfast.server.api;

import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.contract.request.DispatchRequest;
import dev.holdfast.contract.request.PauseRequest;
import dev.holdfast.contract.request.QueueLimits;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Limits;
import dev.holdfast.server.dispatch.DispatchAllowList;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Map;

/** Queues, their limits, and the URLs their tasks are pushed to. */
public final class QueuesApi {
  private final Operators operators;
  private final DispatchAllowList allowed;

  public QueuesApi(Operators operators, DispatchAllowList allowed) {
    this.operators = operators;
    this.allowed = allowed;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/queues", Guard.READ, this::list),
        Route.get("/v1/queues/{queue}", Guard.READ, this::show),
        Route.post("/v1/queues/{queue}/pause", Guard.OPERATE, this::pause).maxBody(Route.SMALL),
        Route.post("/v1/queues/{queue}/resume", Guard.OPERATE, this::resume).maxBody(Route.SMALL),
        Route.patch("/v1/queues/{queue}/limits", Guard.OPERATE, this::limit).maxBody(Route.SMALL),
        Route.put("/v1/queues/{queue}/dispatch", Guard.OPERATE, this::push).maxBody(Route.SMALL),
        Route.delete("/v1/queues/{queue}/dispatch", Guard.OPERATE, this::stopPushing));
  }

  private QueueOperator queues(Call call) {
    return operators.of(call).queues();
  }

  private Answer list(Call call) {
    return Answer.ok(Map.of("queues", queues(call).list()));
  }

  /** Queues need no creation, so an unknown name is an empty queue. */
  private Answer show(Call call) {
    return shown(queues(call).show(call.value("queue")));
  }

  private static Answer shown(QueueOperator.View queue) {
    return Answer.ok(queue);
  }

  /** A client that may not change a queue is refused, whatever the body is. */
  private static String named(Call call) {
    call.caller().mustSeeEveryTenant("a queue");
    return Limits.queue(call.value("queue"));
  }

  private static PauseRequest why(Call call) {
    return call.body(PauseRequest.class, PauseRequest.NONE);
  }

  private Answer pause(Call call) {
    String queue = named(call);
    return shown(queues(call).pause(queue, why(call).reason()));
  }

  private Answer resume(Call call) {
    String queue = named(call);
    why(call);
    queues(call).resume(queue);
    return show(call);
  }

  private Answer limit(Call call) {
    String queue = named(call);
    QueueLimits request = call.body(QueueLimits.class);
    Integer running = request.runningAtOnce();
    RateLimit rate = request.rate();
    QueueOperator.View first =
        request.maxRunning() == null
            ? queues(call).rate(queue, rate)
            : queues(call).limit(queue, running);
    if (request.maxRunning() == null || request.rateLimit() == null) {
      return shown(first);
    }
    QueueOperator.View both = queues(call).rate(queue, rate);
    return shown(
        new QueueOperator.View(both.status(), both.pause(), both.dispatch(), first.created()));
  }

  private Answer push(Call call) {
    String queue = named(call);
    DispatchRequest request = call.body(DispatchRequest.class);
    URI url = checked(request.url());
    Integer given = request.maxInFlight();
    int maxInFlight = given == null ? Dispatch.DEFAULT_MAX_IN_FLIGHT : given;
    return shown(queues(call).push(new Dispatch(queue, url, request.secret(), maxInFlight)));
  }

  private URI checked(String text) {
    try {
      URI url = new URI(text);
      if (allowed.allows(url)) {
        return url;
      }
    } catch (URISyntaxException malformed) {
      // answered below
    }
    throw new Problem(
        422,
        "dispatch_not_allowed",
        "tasks may not be pushed there: the url must be http or https, without user and fragment,"
            + " and HOLDFAST_DISPATCH_ALLOW must name its host");
  }

  private Answer stopPushing(Call call) {
    queues(call).stopPushing(named(call));
    return show(call);
  }
}
