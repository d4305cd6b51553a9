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
 * By which names the server may be called, and from which pages.
 *
 * <p>A page of somebody else can have its name lead here (DNS rebinding) or send requests here
 * (CSRF); the browser then tells us that page's name in Host or Origin.
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
   * @param localAddress the address this connection came in at: an address cannot be rebound
   */
  public void check(Optional<String> host, Optional<String> origin, String localAddress) {
    String called = host.map(HostOriginPolicy::name).orElse("");
    if (!hosts.contains(called) && !called.equals(localAddress)) {
      throw new Problem(
          403,
          "host_not_allowed",
          "the server does not go by this name: HOLDFAST_SERVER_ALLOWED_HOSTS says which it may go by");
    }
    if (origin.isPresent() && !isOwn(origin.get(), called)) {
      throw new Problem(403, "origin_not_allowed", "requests from pages of others are refused");
    }
  }

  /**
   * A browser shows a cookie to every port of a host, so here the page must be ours to the port.
   * Browsers name the origin of whatever is not a GET.
   */
  public void checkPage(Optional<String> host, Optional<String> origin) {
    String from = origin.map(HostOriginPolicy::uri).map(HostOriginPolicy::authority).orElse("");
    String called = host.orElse("").strip().toLowerCase(Locale.ROOT);
    if (from.isEmpty() || !(from.equals(called) || from.equals(publicAuthority))) {
      throw new Problem(403, "origin_not_allowed", "requests from pages of others are refused");
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

  /** Without the port. */
  private static String name(String host) {
    String lower = host.strip().toLowerCase(Locale.ROOT);
    int colon = lower.lastIndexOf(':');
    return colon > lower.lastIndexOf(']') ? lower.substring(0, colon) : lower;
  }
}
