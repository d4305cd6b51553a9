package dev.holdfast.server.metrics;

import dev.holdfast.model.job.EventType;
import dev.holdfast.server.config.ServerOptions;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.statsd.StatsdConfig;
import io.micrometer.statsd.StatsdFlavor;
import io.micrometer.statsd.StatsdMeterRegistry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Sends metrics by UDP, with tags in the form that most receivers know: {@code |#name:value}. */
final class StatsdSender {
  private static final Duration OFTEN = Duration.ofSeconds(2);

  static {
    // The Netty inside of Micrometer would use sun.misc.Unsafe and look for native libraries, and
    // the Java runtime warns of both on standard error.
    System.setProperty("io.micrometer.shaded.io.netty.noUnsafe", "true");
    System.setProperty("io.micrometer.shaded.io.netty.transport.noNative", "true");
  }

  private StatsdSender() {}

  static StatsdMeterRegistry to(ServerOptions.Statsd statsd) {
    StatsdMeterRegistry registry = new StatsdMeterRegistry(config(statsd), Clock.SYSTEM);
    registry.config().namingConvention(StatsdSender::named);
    return registry;
  }

  /** Names stay as documented; timers of steps get their unit. */
  private static String named(String name, Meter.Type type, @Nullable String unit) {
    return type == Meter.Type.TIMER && name.startsWith(EventType.TASK) ? name + "_seconds" : name;
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
