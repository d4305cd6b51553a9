package dev.holdfast.process;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The part of a process environment that any program may see: how to find things, and its locale.
 */
public final class SafeEnvironment {
  private static final Set<String> NAMES =
      Set.of("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR");

  private SafeEnvironment() {}

  public static Map<String, String> of(Map<String, String> environment) {
    return environment.entrySet().stream()
        .filter(entry -> isSafe(entry.getKey()))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static boolean isSafe(String name) {
    return NAMES.contains(name) || name.startsWith("LC_");
  }
}
