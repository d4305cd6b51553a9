package dev.holdfast.server.api;

import dev.holdfast.contract.resource.HistoryResource;
import dev.holdfast.model.ops.JobHistory;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.util.List;

/** Throughput, depth and times over minutes to days as a series of points, for charts. */
public final class HistoryApi {
  private static final int DEFAULT_MINUTES = 15;

  private final Queries queries;

  public HistoryApi(Queries queries) {
    this.queries = queries;
  }

  public List<Route> routes() {
    return List.of(
        Route.get("/v1/history", Guard.READ, this::history).queries("minutes", "queue", "kind"));
  }

  private Answer history(Call call) {
    int minutes = call.whole("minutes", DEFAULT_MINUTES, 1, (int) JobHistory.LONGEST.toMinutes());
    return Answer.ok(
        HistoryResource.of(
            queries.history(
                new JobHistory.Query(
                    Duration.ofMinutes(minutes),
                    call.query("queue").map(Limits::queue).orElse(null),
                    call.query("kind").map(Limits::kind).orElse(null),
                    call.caller().tenant()))));
  }
}
