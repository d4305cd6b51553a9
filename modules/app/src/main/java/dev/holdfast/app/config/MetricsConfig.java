package dev.holdfast.app.config;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.server.config.ServerOptions;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where metrics are sent.
 *
 * @param statsd null for nowhere
 */
public record MetricsConfig(ServerOptions.@Nullable Statsd statsd) {
  static final Setting<ServerOptions.Statsd> STATSD =
      Setting.of(
          "metrics.statsd",
          new SettingType<>("host:port, such as 127.0.0.1:8125,", MetricsConfig::statsdAt),
          "host:port of a StatsD server that gets the metrics");

  static final Concern CONCERN = new Concern("Metrics", List.of(STATSD), MetricsConfig::read);

  static MetricsConfig read(SettingValues values) {
    return new MetricsConfig(values.find(STATSD).orElse(null));
  }

  private static ServerOptions.Statsd statsdAt(String text) {
    var match = HostNames.PATTERN.matcher(text.toLowerCase(Locale.ROOT));
    if (match.matches() && match.group(2) != null) {
      int port = Integer.parseInt(match.group(2));
      if (port >= 1 && port <= 65_535) {
        return new ServerOptions.Statsd(match.group(1), port);
      }
    }
    throw new IllegalArgumentException(text);
  }
}
