package dev.holdfast.server;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.config.NamingConvention;
import io.micrometer.statsd.StatsdConfig;
import io.micrometer.statsd.StatsdFlavor;
import io.micrometer.statsd.StatsdMeterRegistry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Sends metrics by UDP, with tags in the form that most receivers know: {@code |#name:value}. */
final class StatsdSender {
  private static final Duration OFTEN = Duration.ofSeconds(2);

  private StatsdSender() {}

  static StatsdMeterRegistry to(ServerOptions.Statsd statsd) {
    StatsdMeterRegistry registry = new StatsdMeterRegistry(config(statsd), Clock.SYSTEM);
    // The names are those of the documentation, as they are.
    registry.config().namingConvention(NamingConvention.identity);
    return registry;
  }

  private static StatsdConfig config(ServerOptions.Statsd statsd) {
    return new StatsdConfig() {
      @Override
      public @Nullable String get(String key) {
        return null;
      }

      @Override
      public StatsdFlavor flavor() {
        return StatsdFlavor.DATADOG;
      }

      @Override
      public String host() {
        return statsd.host();
      }

      @Override
      public int port() {
        return statsd.port();
      }

      @Override
      public Duration pollingFrequency() {
        return OFTEN;
      }
    };
  }
}
