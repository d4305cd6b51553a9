package dev.holdfast.client.http;

import java.net.URI;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a server's address and a key may look like. */
final class ServerAddress {
  private static final Set<String> SCHEMES = Set.of("http", "https");

  private ServerAddress() {}

  /** The address, without a slash at its end. */
  static String checked(URI server) {
    @Nullable String scheme = server.getScheme();
    if (scheme == null
        || !SCHEMES.contains(scheme.toLowerCase(Locale.ROOT))
        || server.getHost() == null
        || server.getRawUserInfo() != null
        || server.getRawQuery() != null
        || server.getRawFragment() != null) {
      // Not the address itself: somebody may have put a password into it.
      throw new IllegalArgumentException(
          "the server's address must be of the form http://host:port or https://host:port");
    }
    return server.toString().replaceAll("/+$", "");
  }

  static String checkedKey(String apiKey) {
    if (apiKey.isEmpty() || !apiKey.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new IllegalArgumentException(
          "the API key holds a space, a line break or something else that no key has");
    }
    return apiKey;
  }
}
