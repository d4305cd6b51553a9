package dev.holdfast.app.config;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.client.http.ServerAddress;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.server.config.ServerOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the settings say about the server. A value it would refuse is named by its setting here. */
public final class ServerSettings {
  private static final long YEAR_MS = Duration.ofDays(365).toMillis();
  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9a-f:.]+\\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?::(\\d{1,5}))?");

  /** One for each value, or for those that belong together: so all that is wrong can be told. */
  public static final List<Consumer<Settings>> CHECKS =
      List.of(
          ServerSettings::host,
          ServerSettings::port,
          ServerSettings::publicUrl,
          ServerSettings::allowedHosts,
          ServerSettings::tls,
          ServerSettings::timings,
          ServerSettings::tokens,
          ServerSettings::requestsPerSecond,
          ServerSettings::dispatchTo,
          ServerSettings::dispatchTimeout,
          ServerSettings::statsd);

  private ServerSettings() {}

  public static ServerOptions options(Settings settings) {
    return ServerOptions.DEFAULT
        .host(host(settings))
        .port(port(settings))
        .publicUrl(publicUrl(settings))
        .allowedHosts(allowedHosts(settings))
        .tls(tls(settings))
        .timings(timings(settings))
        .tokens(tokens(settings))
        .requestsPerSecond(requestsPerSecond(settings))
        .dispatchTo(dispatchTo(settings))
        .dispatchTimeout(dispatchTimeout(settings))
        .artifacts(settings.folder(Setting.ARTIFACTS_FOLDER, ""))
        .statsd(statsd(settings))
        .settings(settings.shown());
  }

  private static String host(Settings settings) {
    String host = settings.text(Setting.SERVER_HOST).strip();
    if (host.isEmpty()) {
      throw settings.wrong(Setting.SERVER_HOST, "an address such as 127.0.0.1 or 0.0.0.0");
    }
    return host;
  }

  private static int port(Settings settings) {
    return settings.within(Setting.SERVER_PORT, 0, 65_535);
  }

  private static Set<String> allowedHosts(Settings settings) {
    return hosts(settings, Setting.ALLOWED_HOSTS, false);
  }

  private static int requestsPerSecond(Settings settings) {
    return settings.within(Setting.REQUESTS_PER_SECOND, 0, 1_000_000);
  }

  private static Set<String> dispatchTo(Settings settings) {
    return hosts(settings, Setting.DISPATCH_ALLOW, true);
  }

  private static @Nullable Duration dispatchTimeout(Settings settings) {
    if (!settings.isGiven(Setting.DISPATCH_TIMEOUT_MS)) {
      return null;
    }
    long value = millis(settings, Setting.DISPATCH_TIMEOUT_MS);
    long lease = timings(settings).lease().toMillis();
    // The task is leased meanwhile, and must be given back before the lease has run out.
    if (value > lease / 2) {
      throw settings.wrong(
          Setting.DISPATCH_TIMEOUT_MS,
          "at most half of HEARTBEAT_TIMEOUT_MS (%d)".formatted(lease));
    }
    return Duration.ofMillis(value);
  }

  static Timings timings(Settings settings) {
    long interval = millis(settings, Setting.HEARTBEAT_INTERVAL_MS);
    long timeout = millis(settings, Setting.HEARTBEAT_TIMEOUT_MS);
    // One lost heartbeat must not cost the task.
    if (timeout < 2 * interval) {
      throw settings.wrong(
          Setting.HEARTBEAT_TIMEOUT_MS,
          "at least twice HEARTBEAT_INTERVAL_MS (%d)".formatted(interval));
    }
    return new Timings(
        Duration.ofMillis(interval),
        Duration.ofMillis(timeout),
        Duration.ZERO,
        Duration.ofMillis(millis(settings, Setting.CANCEL_GRACE_PERIOD_MS)));
  }

  private static long millis(Settings settings, Setting setting) {
    long value = settings.wholeLong(setting);
    if (value < 1 || value > YEAR_MS) {
      throw settings.wrong(setting, "a number of milliseconds from 1 to a year's");
    }
    return value;
  }

  private static TokenLifetime tokens(Settings settings) {
    try {
      return new TokenLifetime(Duration.ofSeconds(settings.whole(Setting.TOKEN_TTL_SECONDS)));
    } catch (RefusedException wrong) {
      throw new CommandException(ExitCode.CONFIGURATION, String.valueOf(wrong.getMessage()));
    }
  }

  private static @Nullable URI publicUrl(Settings settings) {
    return settings.isGiven(Setting.PUBLIC_URL) ? url(settings, Setting.PUBLIC_URL) : null;
  }

  /** A URL of a server, without what would follow it. */
  public static URI url(Settings settings, Setting setting) {
    String text = settings.text(setting).strip().replaceAll("/+$", "");
    try {
      URI url = URI.create(text);
      if (ServerAddress.isAddress(url)) {
        return url;
      }
    } catch (IllegalArgumentException malformed) {
      // said below
    }
    throw new CommandException(
        ExitCode.CONFIGURATION,
        "%s (%s) is no address of a server: a URL such as https://jobs.example.org is expected"
            .formatted(setting.key(), setting.variable()));
  }

  private static ServerOptions.@Nullable Tls tls(Settings settings) {
    boolean certificate = settings.isGiven(Setting.TLS_CERTIFICATE);
    boolean key = settings.isGiven(Setting.TLS_KEY);
    if (certificate != key) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY belong together: %s is missing"
              .formatted(certificate ? "HOLDFAST_TLS_KEY" : "HOLDFAST_TLS_CERT"));
    }
    return certificate
        ? new ServerOptions.Tls(
            Path.of(settings.text(Setting.TLS_CERTIFICATE)),
            Path.of(settings.text(Setting.TLS_KEY)))
        : null;
  }

  private static Set<String> hosts(Settings settings, Setting setting, boolean mayHavePort) {
    Set<String> hosts = new LinkedHashSet<>();
    for (String host : settings.list(setting)) {
      var match = HOST.matcher(host.toLowerCase(Locale.ROOT));
      if (!match.matches() || (match.group(2) != null && !mayHavePort)) {
        throw settings.wrong(
            setting,
            mayHavePort ? "a list of host or host:port" : "a list of host names without ports");
      }
      hosts.add(host.toLowerCase(Locale.ROOT));
    }
    return hosts;
  }

  public static ServerOptions.@Nullable Statsd statsd(Settings settings) {
    if (!settings.isGiven(Setting.STATSD)) {
      return null;
    }
    var match = HOST.matcher(settings.text(Setting.STATSD).strip().toLowerCase(Locale.ROOT));
    if (match.matches() && match.group(2) != null) {
      int port = Integer.parseInt(match.group(2));
      if (port >= 1 && port <= 65_535) {
        return new ServerOptions.Statsd(match.group(1), port);
      }
    }
    throw settings.wrong(Setting.STATSD, "host:port, such as 127.0.0.1:8125,");
  }
}
