package dev.holdfast.server.api;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.resource.QueueResource;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Admin;
import dev.holdfast.server.auth.Caller;
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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Queues, their limits, and the URLs their tasks are pushed to. */
public final class QueuesApi {
  private final Admin admin;
  private final DispatchAllowList allowed;

  public QueuesApi(Admin admin, DispatchAllowList allowed) {
    this.admin = admin;
    this.allowed = allowed;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/queues", Guard.READ, this::list),
        Route.get("/v1/queues/{queue}", Guard.READ, this::show),
        Route.post("/v1/queues/{queue}/pause", Guard.OPERATE, this::pause).maxBody(Route.SMALL),
        Route.post("/v1/queues/{queue}/resume", Guard.OPERATE, this::resume).maxBody(Route.SMALL),
        Route.put("/v1/queues/{queue}/limits", Guard.OPERATE, this::limit).maxBody(Route.SMALL),
        Route.put("/v1/queues/{queue}/dispatch", Guard.OPERATE, this::push).maxBody(Route.SMALL),
        Route.delete("/v1/queues/{queue}/dispatch", Guard.OPERATE, this::stopPushing));
  }

  /** The URL, and the secret that is sent there. */
  record DispatchRequest(String url, String secret, @Nullable Integer maxInFlight) {
    DispatchRequest {
      Wire.present("url", url);
      Wire.present("secret", secret);
    }

    @Override
    public String toString() {
      return "dispatch to " + url;
    }
  }

  private Answer list(Call call) {
    Map<String, Dispatch> dispatches = dispatches(call.caller());
    Map<String, Pause> pauses = pauses(call.caller());
    return Answer.ok(
        Map.of(
            "queues",
            admin.queues(call.caller().tenant()).stream()
                .map(status -> resource(status, dispatches, pauses, null))
                .toList()));
  }

  /** Queues need no creation, so an unknown name is an empty queue. */
  private Answer show(Call call) {
    return shown(call, null);
  }

  private Answer shown(Call call, @Nullable Boolean created) {
    String name = Limits.queue(call.value("queue"));
    QueueStatus status = admin.queue(name, call.caller().tenant());
    return Answer.ok(resource(status, dispatches(call.caller()), pauses(call.caller()), created));
  }

  private Map<String, Dispatch> dispatches(Caller caller) {
    return caller.seesEveryTenant()
        ? admin.dispatches().stream()
            .collect(Collectors.toMap(Dispatch::queue, Function.identity()))
        : Map.of();
  }

  /** The name of a key, and what an operator says to others, is not for a tenant. */
  private Map<String, Pause> pauses(Caller caller) {
    return caller.seesEveryTenant() ? admin.pauses() : Map.of();
  }

  private static QueueResource.Dispatched resource(
      QueueStatus status,
      Map<String, Dispatch> dispatches,
      Map<String, Pause> pauses,
      @Nullable Boolean created) {
    Dispatch dispatch = dispatches.get(status.name());
    return new QueueResource.Dispatched(
        QueueResource.of(status, pauses.get(status.name())),
        dispatch == null ? null : resource(dispatch),
        created);
  }

  /** Without the secret, and without the query of the URL, which may contain one. */
  private static QueueResource.Dispatch resource(Dispatch dispatch) {
    URI url = dispatch.url();
    String port = url.getPort() < 0 ? "" : ":" + url.getPort();
    return new QueueResource.Dispatch(
        url.getScheme() + "://" + url.getHost() + port + url.getRawPath(), dispatch.maxInFlight());
  }

  private String named(Call call) {
    call.caller().mustSeeEveryTenant("a queue");
    return Limits.queue(call.value("queue"));
  }

  /**
   * A client may set up a queue before its first job. The answer says so, because a misspelled name
   * would do the same.
   */
  private Answer set(Call call, Consumer<String> setting) {
    String name = named(call);
    boolean known = admin.isKnown(name);
    setting.accept(name);
    return shown(call, known ? null : Boolean.TRUE);
  }

  private Answer pause(Call call) {
    named(call); // a client that may not pause is refused, whatever the body is
    QueueResource.PauseRequest why =
        call.body(QueueResource.PauseRequest.class, QueueResource.PauseRequest.NONE);
    return set(call, name -> admin.pause(name, why.by(call.caller().name())));
  }

  private Answer resume(Call call) {
    String name = named(call);
    call.body(QueueResource.PauseRequest.class, QueueResource.PauseRequest.NONE);
    admin.resume(name);
    return show(call);
  }

  private Answer limit(Call call) {
    named(call); // a client that may not set limits is refused, whatever the body is
    QueueResource.Limits request = call.body(QueueResource.Limits.class);
    QueueResource.Rate rate = request.rateLimit();
    RateLimit limit = rate == null ? null : rate.limit();
    return set(call, name -> admin.limits(name, request.maxRunning(), limit));
  }

  private Answer push(Call call) {
    String queue = named(call);
    DispatchRequest request = call.body(DispatchRequest.class);
    URI url = checked(request.url());
    Integer given = request.maxInFlight();
    int maxInFlight = given == null ? Dispatch.DEFAULT_MAX_IN_FLIGHT : given;
    Dispatch dispatch = new Dispatch(queue, url, request.secret(), maxInFlight);
    return set(call, name -> admin.dispatch(dispatch));
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
    String name = named(call);
    if (!admin.stopDispatch(name)) {
      throw Problem.notFound("queue '" + name + "' is not pushed anywhere");
    }
    return show(call);
  }
}
