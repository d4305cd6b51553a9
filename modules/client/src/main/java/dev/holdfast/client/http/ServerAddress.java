package dev.holdfast.client.http;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/** What a server's address and an API key may look like, and how values become part of a path. */
public final class ServerAddress {
  private static final Set<String> SCHEMES = Set.of("http", "https");

  private ServerAddress() {}

  /** Whether it names a host, and nothing that could be a secret. */
  public static boolean isAddress(URI server) {
    return server.getScheme() != null
        && SCHEMES.contains(server.getScheme().toLowerCase(Locale.ROOT))
        && server.getHost() != null
        && server.getRawUserInfo() == null
        && server.getRawQuery() == null
        && server.getRawFragment() == null;
  }

  /** Whether it can be part of a header. */
  public static boolean isKey(String apiKey) {
    return !apiKey.isEmpty() && apiKey.chars().allMatch(c -> c > ' ' && c <= '~');
  }

  /** The address, without a slash at its end. */
  static String checked(URI server) {
    if (!isAddress(server)) {
      // Not the address itself: it may contain a password.
      throw new IllegalArgumentException(
          "the server's address must be of the form http://host:port or https://host:port");
    }
    return server.toString().replaceAll("/+$", "");
  }

  static String checkedKey(String apiKey) {
    if (!isKey(apiKey)) {
      throw new IllegalArgumentException(
          "the API key holds a space, a line break or something else that no key has");
    }
    return apiKey;
  }

  /** As a segment of a path or a value of a query. */
  public static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
