package dev.holdfast.client.operate;

import static dev.holdfast.client.http.ServerAddress.encoded;

import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.contract.request.DispatchRequest;
import dev.holdfast.contract.request.PauseRequest;
import dev.holdfast.contract.request.QueueLimits;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.RateLimit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Queues, through a server. */
final class HttpQueues implements QueueOperator {
  private final OperatorCalls server;

  HttpQueues(OperatorCalls server) {
    this.server = server;
  }

  private static String path(String queue) {
    return "/v1/queues/" + encoded(queue);
  }

  @Override
  public List<View> list() {
    return server.list("/v1/queues", "queues", View.class);
  }

  @Override
  public View show(String queue) {
    return server.get(path(queue), View.class);
  }

  @Override
  public View pause(String queue, @Nullable String reason) {
    return server.post(path(queue) + "/pause", new PauseRequest(reason), View.class);
  }

  @Override
  public boolean resume(String queue) {
    boolean paused = show(queue).status().pausedAt() != null;
    server.post(path(queue) + "/resume", OperatorCalls.NOTHING);
    return paused;
  }

  @Override
  public View limit(String queue, @Nullable Integer maxRunning) {
    return server.patch(path(queue) + "/limits", QueueLimits.running(maxRunning), View.class);
  }

  @Override
  public View rate(String queue, @Nullable RateLimit rate) {
    return server.patch(path(queue) + "/limits", QueueLimits.rate(rate), View.class);
  }

  @Override
  public View push(Dispatch dispatch) {
    return server.put(
        path(dispatch.queue()) + "/dispatch",
        new DispatchRequest(dispatch.url().toString(), dispatch.secret(), dispatch.maxInFlight()),
        View.class);
  }

  @Override
  public void stopPushing(String queue) {
    var unused = server.delete(path(queue) + "/dispatch", View.class);
  }
}
