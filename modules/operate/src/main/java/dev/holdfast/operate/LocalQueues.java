package dev.holdfast.operate;

import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Admin;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Queues, on the database. */
final class LocalQueues implements QueueOperator {
  private final Admin admin;
  private final Principal caller;

  LocalQueues(Admin admin, Principal caller) {
    this.admin = admin;
    this.caller = caller;
  }

  @Override
  public List<View> list() {
    Map<String, Dispatch> dispatches = dispatches();
    Map<String, Pause> pauses = pauses();
    return admin.queues(caller.tenant()).stream()
        .map(each -> view(each, pauses, dispatches, false))
        .toList();
  }

  @Override
  public View show(String queue) {
    return shown(Limits.queue(queue), false);
  }

  private View shown(String queue, boolean created) {
    return view(admin.queue(queue, caller.tenant()), pauses(), dispatches(), created);
  }

  private static View view(
      QueueStatus status,
      Map<String, Pause> pauses,
      Map<String, Dispatch> dispatches,
      boolean created) {
    Dispatch dispatch = dispatches.get(status.name());
    return new View(
        status,
        pauses.get(status.name()),
        dispatch == null ? null : new PushedTo(shown(dispatch.url()), dispatch.maxInFlight()),
        created ? Boolean.TRUE : null);
  }

  private static String shown(URI url) {
    String port = url.getPort() < 0 ? "" : ":" + url.getPort();
    return url.getScheme() + "://" + url.getHost() + port + url.getRawPath();
  }

  private Map<String, Dispatch> dispatches() {
    return caller.seesEveryTenant()
        ? admin.dispatches().stream()
            .collect(Collectors.toMap(Dispatch::queue, Function.identity()))
        : Map.of();
  }

  /** The name of a key, and what an operator says to others, is not for a tenant. */
  private Map<String, Pause> pauses() {
    return caller.seesEveryTenant() ? admin.pauses() : Map.of();
  }

  /**
   * A client may set up a queue before its first job. The answer says so, because a misspelled name
   * would do the same.
   */
  private View set(String queue, Runnable setting) {
    checked(queue);
    boolean known = admin.isKnown(queue);
    setting.run();
    return shown(queue, !known);
  }

  private void checked(String queue) {
    caller.mustSeeEveryTenant("a queue");
    Limits.queue(queue);
  }

  @Override
  public View pause(String queue, @Nullable String reason) {
    return set(queue, () -> admin.pause(queue, new Pause.Draft(caller.name(), reason)));
  }

  @Override
  public boolean resume(String queue) {
    checked(queue);
    return admin.resume(queue);
  }

  @Override
  public View limit(String queue, @Nullable Integer maxRunning) {
    return set(queue, () -> admin.limit(queue, maxRunning));
  }

  @Override
  public View rate(String queue, @Nullable RateLimit rate) {
    return set(queue, () -> admin.rate(queue, rate));
  }

  @Override
  public View push(Dispatch dispatch) {
    return set(dispatch.queue(), () -> admin.dispatch(dispatch));
  }

  @Override
  public void stopPushing(String queue) {
    checked(queue);
    if (!admin.stopDispatch(queue)) {
      throw new OperatorException(
          OperatorException.Reason.NOT_FOUND, "queue '" + queue + "' is not pushed anywhere");
    }
  }
}
