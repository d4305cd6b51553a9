package dev.holdfast.server;

import java.net.URI;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * By which names the server may be called, and from which pages.
 *
 * <p>A page of somebody else can have its name lead here (DNS rebinding) or send requests here
 * (CSRF); the browser then tells us that page's name in Host or Origin.
 */
final class Neighbours {
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private final Set<String> hosts;

  Neighbours(ServerOptions options) {
    Set<String> known = new HashSet<>(LOOPBACK);
    options.allowedHosts().forEach(host -> known.add(host.toLowerCase(Locale.ROOT)));
    known.add(options.host().toLowerCase(Locale.ROOT));
    URI url = options.publicUrl();
    if (url != null && url.getHost() != null) {
      known.add(url.getHost().toLowerCase(Locale.ROOT));
    }
    this.hosts = Set.copyOf(known);
  }

  /**
   * @param localAddress the address this connection came in at: an address cannot be rebound
   */
  void check(Optional<String> host, Optional<String> origin, String localAddress) {
    String called = host.map(Neighbours::name).orElse("");
    if (!hosts.contains(called) && !called.equals(localAddress)) {
      throw new Problem(
          403,
          "host_not_allowed",
          "the server does not go by this name: HOLDFAST_ALLOWED_HOSTS says which it may go by");
    }
    if (origin.isPresent() && !isOwn(origin.get(), called)) {
      throw new Problem(403, "origin_not_allowed", "requests from pages of others are refused");
    }
  }

  private static boolean isOwn(String origin, String called) {
    try {
      String host = URI.create(origin).getHost();
      return host != null && host.toLowerCase(Locale.ROOT).equals(called);
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  /** Without the port. */
  private static String name(String host) {
    String lower = host.strip().toLowerCase(Locale.ROOT);
    int colon = lower.lastIndexOf(':');
    return colon > lower.lastIndexOf(']') ? lower.substring(0, colon) : lower;
  }
}
