package dev.holdfast.app.config;

import dev.holdfast.app.setting.SettingType;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Names of hosts, as settings list them. */
final class HostNames {
  /** The host is group 1, its port group 2. */
  static final Pattern PATTERN =
      Pattern.compile("(\\[[0-9a-f:.]+\\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?::(\\d{1,5}))?");

  static final SettingType<Set<String>> WITHOUT_PORTS =
      new SettingType<>("a list of host names without ports", text -> parse(text, false));

  static final SettingType<Set<String>> WITH_PORTS =
      new SettingType<>("a list of host or host:port", text -> parse(text, true));

  private HostNames() {}

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
