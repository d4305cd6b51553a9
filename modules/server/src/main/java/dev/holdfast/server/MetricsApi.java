package dev.holdfast.server;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** What the server counts, for Prometheus. */
final class MetricsApi {
  static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final ServerMetrics metrics;

  MetricsApi(ServerMetrics metrics) {
    this.metrics = metrics;
  }

  List<Route> routes() {
    return List.of(Route.get("/metrics", Guard.READ, this::metrics));
  }

  private Answer metrics(Call call) {
    call.caller().mustSeeEveryTenant("what the server counts");
    return Answer.text(200, TYPE, metrics.scrape().getBytes(StandardCharsets.UTF_8));
  }
}
