package dev.holdfast.app.config;

import dev.holdfast.app.config.file.SettingsFile;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.value.Spelling;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which settings exist. Refuses others, with the name that was probably meant. */
final class KnownSettings {
  private static final int MOST_CANDIDATES = 3;

  static final String FILE_VARIABLE = "HOLDFAST_CONFIG";

  /**
   * Variables with our prefix that are no settings. The scripts of a checkout read the first ones;
   * a worker sets the others for the programs it runs, and a program may run 'holdfast'.
   */
  static final Set<String> NO_SETTINGS =
      Set.of(
          "HOLDFAST_JAVA_OPTS",
          "HOLDFAST_CLASSPATH",
          "HOLDFAST_DEBUG",
          "HOLDFAST_TEST_INSTALL",
          FILE_VARIABLE,
          "HOLDFAST_PROGRAM",
          "HOLDFAST_JOB",
          "HOLDFAST_SCRATCH",
          "HOLDFAST_ARTIFACTS",
          "HOLDFAST_MARK",
          "HOLDFAST_RETRY_CONTEXT",
          "HOLDFAST_STEP_ID",
          "HOLDFAST_STEP_INDEX",
          "HOLDFAST_STEP_ATTEMPT",
          "HOLDFAST_STEP_RESULT");

  private final Map<String, Setting> byKey = new LinkedHashMap<>();
  private final Map<String, Setting> byVariable = new LinkedHashMap<>();

  KnownSettings(List<Setting> settings) {
    for (Setting setting : settings) {
      byKey.put(setting.key(), setting);
      byVariable.put(setting.variable(), setting);
    }
  }

  void putFromFile(SettingValues values, String key, String text, String file) {
    Setting setting = byKey.get(key);
    if (setting != null) {
      values.putFromFile(setting.key(), text, file);
    } else if (!isSection(key)) {
      throw unknown(
          file + ": ", key, Stream.concat(byKey.keySet().stream(), SettingsFile.TABLES.stream()));
    } else if (!text.isEmpty()) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          "%s: '%s' is no setting but holds some: %s"
              .formatted(file, key, String.join(", ", inSection(key))));
    }
  }

  private boolean isSection(String key) {
    return !inSection(key).isEmpty();
  }

  private List<String> inSection(String key) {
    return byKey.keySet().stream().filter(name -> name.startsWith(key + ".")).toList();
  }

  void putFromEnvironment(SettingValues values, String name, String text) {
    Setting setting = byVariable.get(name);
    if (setting != null) {
      values.putFromEnvironment(setting.key(), text);
    } else if (name.startsWith(Setting.PREFIX) && !NO_SETTINGS.contains(name)) {
      throw unknown("", name, byVariable.keySet().stream());
    }
  }

  private static CommandException unknown(String where, String name, Stream<String> known) {
    if (words(name.toLowerCase(Locale.ROOT)).containsAll(Set.of("database", "schema"))) {
      return new CommandException(
          ExitCode.CONFIGURATION,
          where
              + "setting '"
              + name
              + "' is unknown: the schema is always called 'holdfast'; use a database of its own"
              + " for a second installation");
    }
    List<String> names = known.toList();
    String meant =
        withTheSameWords(name, names)
            .or(() -> Spelling.nearest(name, names).map(nearest -> "'" + nearest + "'"))
            .map(candidates -> ": did you mean " + candidates + "?")
            .orElse(": 'holdfast config' lists them all");
    return new CommandException(
        ExitCode.CONFIGURATION, where + "setting '" + name + "' is unknown" + meant);
  }

  /** HOLDFAST_PUBLIC_URL is found as HOLDFAST_SERVER_PUBLIC_URL. */
  private static Optional<String> withTheSameWords(String name, List<String> known) {
    Set<String> words = words(name);
    List<String> found =
        known.stream()
            .filter(each -> words(each).containsAll(words))
            .limit(MOST_CANDIDATES)
            .map(each -> "'" + each + "'")
            .toList();
    return found.isEmpty() ? Optional.empty() : Optional.of(String.join(" or ", found));
  }

  private static Set<String> words(String name) {
    return Stream.of(name.split("[._]", -1)).collect(Collectors.toSet());
  }
}
