package dev.holdfast.worker.attempt;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What of a worker's environment any program may see: how to find things, and how to speak. */
public final class SafeEnvironment {
  private static final Set<String> NAMES =
      Set.of("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR");

  private SafeEnvironment() {}

  public static Map<String, String> of(Map<String, String> environment) {
    return environment.entrySet().stream()
        .filter(entry -> NAMES.contains(entry.getKey()) || entry.getKey().startsWith("LC_"))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
