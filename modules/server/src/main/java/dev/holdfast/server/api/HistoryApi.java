package dev.holdfast.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.value.Moment;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Throughput and times of the last minutes as a series of points, for charts. */
public final class HistoryApi {
  private static final int POINTS = 90;
  private static final int MOST_TENANTS = 100;
  private static final int DEFAULT_MINUTES = 15;

  private final JobQueries queries;
  private final InstantSource clock;

  /** By tenant; empty is all of them. */
  private final Cache<Optional<String>, History> histories =
      Caffeine.newBuilder().maximumSize(MOST_TENANTS).build();

  public HistoryApi(JobQueries queries, InstantSource clock) {
    this.queries = queries;
    this.clock = clock;
  }

  public List<Route> routes() {
    return List.of(Route.get("/v1/history", Guard.READ, this::history).queries("minutes"));
  }

  private Answer history(Call call) {
    int minutes = call.whole("minutes", DEFAULT_MINUTES, 1, (int) History.FARTHEST.toMinutes());
    History.Shown shown =
        of(call.caller().tenant()).last(Duration.ofMinutes(minutes), POINTS, clock.instant());
    ObjectNode node =
        Wire.object()
            .put("knownSince", shown.since().toString())
            .put("intervalMs", shown.step().toMillis());
    node.putArray("points").addAll(shown.points().stream().map(HistoryApi::point).toList());
    return Answer.ok(node);
  }

  private History of(@Nullable String tenant) {
    return histories.get(Optional.ofNullable(tenant), name -> new History(queries, tenant));
  }

  private static ObjectNode point(Moment moment) {
    long jobs = moment.succeeded();
    return Wire.object()
        .put("at", moment.at().toString())
        .put("succeeded", jobs)
        .put("failed", moment.failed())
        .put("cancelled", moment.cancelled())
        .put("averageRunMs", average(moment.run(), jobs))
        .put("maxRunMs", jobs == 0 ? null : (Long) moment.longestRun().toMillis())
        .put("averageWaitMs", average(moment.waited(), jobs))
        .put("maxWaitMs", jobs == 0 ? null : (Long) moment.longestWait().toMillis());
  }

  private static @Nullable Long average(Duration all, long jobs) {
    return jobs == 0 ? null : (Long) (all.toMillis() / jobs);
  }
}
