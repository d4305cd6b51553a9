package dev.holdfast.server.config;

import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.contract.token.WebhookSecret;
import dev.holdfast.model.attempt.Timings;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a server.
 *
 * @param host the address to listen on
 * @param port 0 is any free port
 * @param publicUrl the URL that workers use; by default the address it listens on
 * @param allowedHosts names in the Host header that are accepted besides its own address
 * @param timings of tasks that are leased over HTTP
 * @param requestsPerSecond for each key; 0 is no limit
 * @param dispatchTo hosts that tasks may be pushed to, as {@code host} or {@code host:port}
 * @param dispatchTimeout how long the answer to a push is waited for; at most half of the lease
 * @param artifacts the folder that holds {@code results/}; null if files cannot be downloaded
 * @param notices who is told of questions that jobs ask; null for nobody
 * @param settings of the process, shown to operators
 */
public record ServerOptions(
    String host,
    int port,
    @Nullable URI publicUrl,
    Set<String> allowedHosts,
    @Nullable Tls tls,
    Timings timings,
    TokenLifetime tokens,
    int requestsPerSecond,
    Set<String> dispatchTo,
    @Nullable Duration dispatchTimeout,
    @Nullable Path artifacts,
    @Nullable Statsd statsd,
    @Nullable Receiver notices,
    List<ShownSetting> settings) {
  /** The defaults of the worker contract. */
  public static final Timings TASK_TIMINGS =
      new Timings(
          Duration.ofSeconds(30), Duration.ofSeconds(90), Duration.ZERO, Duration.ofSeconds(30));

  public static final ServerOptions DEFAULT =
      new ServerOptions(
          "127.0.0.1",
          8420,
          null,
          Set.of(),
          null,
          TASK_TIMINGS,
          TokenLifetime.DEFAULT,
          1_000,
          Set.of(),
          null,
          null,
          null,
          null,
          List.of());

  private static final Duration DISPATCH_TIMEOUT = Duration.ofSeconds(10);

  /** Files in PEM form. */
  public record Tls(Path certificate, Path key) {}

  /** Where StatsD listens. */
  public record Statsd(String host, int port) {}

  /**
   * Who is told of questions that jobs ask.
   *
   * @param url may have a secret in its path or query
   */
  public record Receiver(URI url, WebhookSecret secret) {
    /** Without what may be secret. */
    public String shown() {
      return url.getScheme() + "://" + url.getRawAuthority();
    }

    @Override
    public String toString() {
      return shown();
    }
  }

  public ServerOptions {
    allowedHosts = Set.copyOf(allowedHosts);
    dispatchTo = Set.copyOf(dispatchTo);
    settings = List.copyOf(settings);
  }

  /** A task is leased while it is pushed, and must be released before the lease runs out. */
  public Duration dispatchAnswerWithin() {
    Duration longest = timings.lease().dividedBy(2);
    Duration usual = dispatchTimeout == null ? DISPATCH_TIMEOUT : dispatchTimeout;
    return usual.compareTo(longest) < 0 ? usual : longest;
  }

  public boolean isLoopback() {
    try {
      return List.of(InetAddress.getAllByName(host)).stream()
          .allMatch(InetAddress::isLoopbackAddress);
    } catch (UnknownHostException unknown) {
      return false;
    }
  }

  public ServerOptions port(int value) {
    return with(draft -> draft.port = value);
  }

  public ServerOptions host(String value) {
    return with(draft -> draft.host = value);
  }

  public ServerOptions publicUrl(@Nullable URI value) {
    return with(draft -> draft.publicUrl = value);
  }

  public ServerOptions allowedHosts(Set<String> value) {
    return with(draft -> draft.allowedHosts = value);
  }

  public ServerOptions tls(@Nullable Tls value) {
    return with(draft -> draft.tls = value);
  }

  public ServerOptions timings(Timings value) {
    return with(draft -> draft.timings = value);
  }

  public ServerOptions tokens(TokenLifetime value) {
    return with(draft -> draft.tokens = value);
  }

  public ServerOptions requestsPerSecond(int value) {
    return with(draft -> draft.requestsPerSecond = value);
  }

  public ServerOptions dispatchTo(Set<String> value) {
    return with(draft -> draft.dispatchTo = value);
  }

  public ServerOptions dispatchTimeout(@Nullable Duration value) {
    return with(draft -> draft.dispatchTimeout = value);
  }

  public ServerOptions artifacts(@Nullable Path value) {
    return with(draft -> draft.artifacts = value);
  }

  public ServerOptions statsd(@Nullable Statsd value) {
    return with(draft -> draft.statsd = value);
  }

  public ServerOptions notices(@Nullable Receiver value) {
    return with(draft -> draft.notices = value);
  }

  public ServerOptions settings(List<ShownSetting> value) {
    return with(draft -> draft.settings = value);
  }

  private ServerOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.options();
  }

  /** A mutable copy. */
  private static final class Draft {
    private String host;
    private int port;
    private @Nullable URI publicUrl;
    private Set<String> allowedHosts;
    private @Nullable Tls tls;
    private Timings timings;
    private TokenLifetime tokens;
    private int requestsPerSecond;
    private Set<String> dispatchTo;
    private @Nullable Duration dispatchTimeout;
    private @Nullable Path artifacts;
    private @Nullable Statsd statsd;
    private @Nullable Receiver notices;
    private List<ShownSetting> settings;

    Draft(ServerOptions from) {
      host = from.host;
      port = from.port;
      publicUrl = from.publicUrl;
      allowedHosts = from.allowedHosts;
      tls = from.tls;
      timings = from.timings;
      tokens = from.tokens;
      requestsPerSecond = from.requestsPerSecond;
      dispatchTo = from.dispatchTo;
      dispatchTimeout = from.dispatchTimeout;
      artifacts = from.artifacts;
      statsd = from.statsd;
      notices = from.notices;
      settings = from.settings;
    }

    ServerOptions options() {
      return new ServerOptions(
          host,
          port,
          publicUrl,
          allowedHosts,
          tls,
          timings,
          tokens,
          requestsPerSecond,
          dispatchTo,
          dispatchTimeout,
          artifacts,
          statsd,
          notices,
          settings);
    }
  }
}
