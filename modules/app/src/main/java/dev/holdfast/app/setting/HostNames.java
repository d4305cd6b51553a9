package dev.holdfast.app.setting;

import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Names of hosts, as settings list them. */
final class HostNames {
  /** The host is group 1, its port group 2. */
  private static final Pattern PATTERN =
      Pattern.compile("(\\[[0-9a-f:.]+\\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?::(\\d{1,5}))?");

  static final SettingType<Set<String>> WITHOUT_PORTS =
      new SettingType<>("a list of host names without ports", text -> parse(text, false));

  static final SettingType<Set<String>> WITH_PORTS =
      new SettingType<>("a list of host or host:port", text -> parse(text, true));

  static final SettingType<String> WITH_PORT =
      new SettingType<>("host:port, such as 127.0.0.1:8125,", HostNames::one);

  private HostNames() {}

  private static String one(String text) {
    var match = PATTERN.matcher(text.toLowerCase(Locale.ROOT));
    if (match.matches() && match.group(2) != null) {
      int port = Integer.parseInt(match.group(2));
      if (port >= 1 && port <= 65_535) {
        return match.group();
      }
    }
    throw new IllegalArgumentException(text);
  }

  private static Set<String> parse(String text, boolean mayHavePort) {
    Set<String> hosts = new LinkedHashSet<>();
    for (String host : SettingType.LIST.parse().apply(text.toLowerCase(Locale.ROOT))) {
      var match = PATTERN.matcher(host);
      if (!match.matches() || (match.group(2) != null && !mayHavePort)) {
        throw new IllegalArgumentException(host);
      }
      hosts.add(host);
    }
    return hosts;
  }
}
