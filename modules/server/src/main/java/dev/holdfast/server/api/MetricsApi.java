package dev.holdfast.server.api;

import dev.holdfast.server.http.Answer;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.server.routing.Call;
import dev.holdfast.server.routing.Guard;
import dev.holdfast.server.routing.Route;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Metrics in the text format of Prometheus. */
public final class MetricsApi {
  public static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final ServerMetrics metrics;

  public MetricsApi(ServerMetrics metrics) {
    this.metrics = metrics;
  }

  public List<Route> routes() {
    return List.of(Route.get("/metrics", Guard.READ, this::metrics));
  }

  private Answer metrics(Call call) {
    call.caller().mustSeeEveryTenant("what the server counts");
    return Answer.text(200, TYPE, metrics.scrape().getBytes(StandardCharsets.UTF_8));
  }
}
