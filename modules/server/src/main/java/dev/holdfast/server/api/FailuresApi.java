package dev.holdfast.server.api;

import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.util.List;

/** What failed jobs failed of. A group is listed and retried by a search for its signature. */
public final class FailuresApi {
  private static final int GROUPS = 100;
  private static final int MOST_GROUPS = 500;

  private final Queries queries;

  public FailuresApi(Queries queries) {
    this.queries = queries;
  }

  public List<Route> routes() {
    return List.of(Route.get("/v1/failures", Guard.READ, this::list).queries("limit"));
  }

  private Answer list(Call call) {
    return Answer.ok(
        queries.failures(call.caller().tenant(), call.whole("limit", GROUPS, 1, MOST_GROUPS)));
  }
}
