package dev.holdfast.server.dispatch;

import java.net.URI;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * The hosts that tasks may be pushed to: only those that the operator of the server has named. A
 * URL that comes over the API could lead to any machine that the server can reach.
 */
public final class DispatchAllowList {
  private final Set<String> hosts = new HashSet<>();

  /**
   * @param hosts a name or address, for any port, or followed by a colon and the port
   */
  public DispatchAllowList(Set<String> hosts) {
    hosts.forEach(host -> this.hosts.add(host.strip().toLowerCase(Locale.ROOT)));
  }

  public boolean allows(URI url) {
    String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
    String host = url.getHost() == null ? "" : url.getHost().toLowerCase(Locale.ROOT);
    if (!Set.of("http", "https").contains(scheme)
        || host.isEmpty()
        || url.getRawUserInfo() != null
        || url.getRawFragment() != null) {
      return false;
    }
    int port = url.getPort() != -1 ? url.getPort() : scheme.equals("https") ? 443 : 80;
    return hosts.contains(host) || hosts.contains(host + ":" + port);
  }
}
