package dev.holdfast.server;

import dev.holdfast.contract.TokenLifetime;
import dev.holdfast.model.RetryPolicy;
import dev.holdfast.model.Timings;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a server is set up.
 *
 * @param host the address to listen on
 * @param port 0 is any that is free
 * @param publicUrl where workers reach it; the address itself unless given
 * @param allowedHosts names it may be called by, besides its own address
 * @param timings of tasks that are leased over HTTP
 * @param requestsPerSecond for each key; 0 is no limit
 * @param dispatchTo hosts that tasks may be pushed to, as {@code host} or {@code host:port}
 * @param artifacts the folder that holds {@code results/}; none means there is nothing to download
 * @param settings what the process was configured with, for operators to see
 */
public record ServerOptions(
    String host,
    int port,
    @Nullable URI publicUrl,
    Set<String> allowedHosts,
    @Nullable Tls tls,
    Timings timings,
    TokenLifetime tokens,
    RetryPolicy retry,
    int requestsPerSecond,
    Set<String> dispatchTo,
    @Nullable Path artifacts,
    @Nullable Statsd statsd,
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
          RetryPolicy.DEFAULT,
          1_000,
          Set.of(),
          null,
          null,
          List.of());

  /** Files in PEM form. */
  public record Tls(Path certificate, Path key) {}

  /** Where StatsD listens. */
  public record Statsd(String host, int port) {}

  public ServerOptions {
    allowedHosts = Set.copyOf(allowedHosts);
    dispatchTo = Set.copyOf(dispatchTo);
    settings = List.copyOf(settings);
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
    return new ServerOptions(
        host,
        value,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions host(String value) {
    return new ServerOptions(
        value,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions publicUrl(@Nullable URI value) {
    return new ServerOptions(
        host,
        port,
        value,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions allowedHosts(Set<String> value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        value,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions tls(@Nullable Tls value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        value,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions timings(Timings value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        value,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions tokens(TokenLifetime value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        value,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions retry(RetryPolicy value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        value,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions requestsPerSecond(int value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        value,
        dispatchTo,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions dispatchTo(Set<String> value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        value,
        artifacts,
        statsd,
        settings);
  }

  public ServerOptions artifacts(@Nullable Path value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        value,
        statsd,
        settings);
  }

  public ServerOptions statsd(@Nullable Statsd value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        value,
        settings);
  }

  public ServerOptions settings(List<ShownSetting> value) {
    return new ServerOptions(
        host,
        port,
        publicUrl,
        allowedHosts,
        tls,
        timings,
        tokens,
        retry,
        requestsPerSecond,
        dispatchTo,
        artifacts,
        statsd,
        value);
  }
}
