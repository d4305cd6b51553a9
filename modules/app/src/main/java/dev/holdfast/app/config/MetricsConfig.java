package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.server.config.ServerOptions;
import org.jspecify.annotations.Nullable;

/** Where metrics are sent. */
@Section(title = "Metrics", key = "metrics")
public record MetricsConfig(
    @Declared(
            form = Declared.Form.HOST_AND_PORT,
            about = "host:port of a StatsD server that gets the metrics")
        @Nullable String statsd) {
  /** Null for nowhere. */
  public ServerOptions.@Nullable Statsd target() {
    if (statsd == null) {
      return null;
    }
    int colon = statsd.lastIndexOf(':');
    return new ServerOptions.Statsd(
        statsd.substring(0, colon), Integer.parseInt(statsd.substring(colon + 1)));
  }
}
