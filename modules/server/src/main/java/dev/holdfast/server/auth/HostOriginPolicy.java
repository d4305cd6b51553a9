package dev.holdfast.server.auth;

import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.http.Problem;
import java.net.URI;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names the server may be called by, and the pages that may call it.
 *
 * <p>Another site can make its name resolve to this server (DNS rebinding) or send requests to it
 * (CSRF). The browser then names that site in Host or Origin.
 */
public final class HostOriginPolicy {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private final Set<String> hosts;
  private final @Nullable String publicAuthority;

  public HostOriginPolicy(ServerOptions options) {
    Set<String> known = new HashSet<>(LOOPBACK);
    options.allowedHosts().forEach(host -> known.add(host.toLowerCase(Locale.ROOT)));
    known.add(options.host().toLowerCase(Locale.ROOT));
    URI url = options.publicUrl();
    if (url != null && url.getHost() != null) {
      known.add(url.getHost().toLowerCase(Locale.ROOT));
    }
    this.hosts = Set.copyOf(known);
    this.publicAuthority = url == null ? null : authority(url);
  }

  /**
   * @param localAddress of this connection, which is always allowed: an address cannot be rebound
   */
  public void check(Optional<String> host, Optional<String> origin, String localAddress) {
    String called = host.map(HostOriginPolicy::name).orElse("");
    if (!hosts.contains(called) && !called.equals(localAddress)) {
      throw new Problem(
          403,
          "host_not_allowed",
          "the Host header names another host: HOLDFAST_SERVER_ALLOWED_HOSTS lists those that are allowed");
    }
    if (origin.isPresent() && !isOwn(origin.get(), called)) {
      throw new Problem(
          403, "origin_not_allowed", "requests from pages of other sites are refused");
    }
  }

  /**
   * For requests with a cookie. Browsers send a cookie to every port of a host, so the origin must
   * be this server's including the port. They send the origin with all requests but GET.
   */
  public void checkPage(Optional<String> host, Optional<String> origin) {
    String from = origin.map(HostOriginPolicy::uri).map(HostOriginPolicy::authority).orElse("");
    String called = host.orElse("").strip().toLowerCase(Locale.ROOT);
    if (from.isEmpty() || !(from.equals(called) || from.equals(publicAuthority))) {
      throw new Problem(
          403, "origin_not_allowed", "requests from pages of other sites are refused");
    }
  }

  private static @Nullable URI uri(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException malformed) {
      return null;
    }
  }

  private static @Nullable String authority(URI url) {
    String authority = url.getRawAuthority();
    return authority == null ? null : authority.toLowerCase(Locale.ROOT);
  }

  private static boolean isOwn(String origin, String called) {
    URI url = uri(origin);
    String host = url == null ? null : url.getHost();
    return host != null && host.toLowerCase(Locale.ROOT).equals(called);
  }

  /** The host without the port. */
  private static String name(String host) {
    String lower = host.strip().toLowerCase(Locale.ROOT);
    int colon = lower.lastIndexOf(':');
    return colon > lower.lastIndexOf(']') ? lower.substring(0, colon) : lower;
  }
}
