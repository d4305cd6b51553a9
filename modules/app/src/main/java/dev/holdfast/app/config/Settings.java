package dev.holdfast.app.config;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Spelling;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.server.config.ShownSetting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of this process and where each came from: an option, the environment, the file or
 * the default, in this order. What is unknown or cannot be ends the start; nothing is repaired
 * silently.
 */
public final class Settings {
  static final String FILE_VARIABLE = "HOLDFAST_CONFIG";

  // Read by the launcher script, not by us.
  private static final Set<String> OF_THE_LAUNCHER =
      Set.of("HOLDFAST_JAVA_OPTS", "HOLDFAST_CLASSPATH", FILE_VARIABLE, "HOLDFAST_DEBUG");

  // A program that a worker runs finds these in its environment, and may call us in turn.
  private static final Set<String> OF_A_PROGRAM =
      Set.of(
          "HOLDFAST_JOB",
          "HOLDFAST_SCRATCH",
          "HOLDFAST_ARTIFACTS",
          "HOLDFAST_MARK",
          "HOLDFAST_RETRY_CONTEXT",
          "HOLDFAST_STEP_ID",
          "HOLDFAST_STEP_INDEX",
          "HOLDFAST_STEP_ATTEMPT",
          "HOLDFAST_STEP_RESULT");

  /** A value and its origin. */
  public record Value(String text, String origin) {}

  private final Map<Setting, Value> values;
  private final List<ProgramSettings> programs;
  private final List<RuntimeSettings> runtimes;
  private final List<QueueSettings> queues;
  private final RetrySettings.InFile retries;
  private final @Nullable Path file;

  private Settings(
      Map<Setting, Value> values,
      List<ProgramSettings> programs,
      List<RuntimeSettings> runtimes,
      List<QueueSettings> queues,
      RetrySettings.InFile retries,
      @Nullable Path file) {
    this.values = values;
    this.programs = programs;
    this.runtimes = runtimes;
    this.queues = queues;
    this.retries = retries;
    this.file = file;
  }

  public static Settings load(
      Map<Setting, String> options, Map<String, String> environment, @Nullable Path file) {
    Map<Setting, Value> values = new EnumMap<>(Setting.class);
    for (Setting setting : Setting.values()) {
      values.put(setting, new Value(setting.fallback(), "default"));
    }
    SettingsFile read = file == null ? SettingsFile.NONE : SettingsFile.read(file);
    read.values().forEach((setting, text) -> values.put(setting, new Value(text, "" + file)));
    environment.forEach((name, text) -> fromEnvironment(values, name, text));
    options.forEach((setting, text) -> values.put(setting, new Value(text, "option")));
    Settings settings =
        new Settings(values, read.programs(), read.runtimes(), read.queues(), read.retries(), file);
    settings.applyPreset();
    return settings;
  }

  /** A preset stands between the defaults and whatever was said about a single timing. */
  private void applyPreset() {
    if (isGiven(Setting.TIMINGS)) {
      String name = text(Setting.TIMINGS).strip();
      try {
        Timings preset = Timings.preset(name);
        unlessGiven(Setting.HEARTBEAT_INTERVAL_SEC, preset.heartbeat(), "preset " + name);
        unlessGiven(Setting.LEASE_TIMEOUT_SEC, preset.lease(), "preset " + name);
      } catch (RefusedException unknown) {
        throw new CommandException(ExitCode.CONFIGURATION, String.valueOf(unknown.getMessage()));
      }
    }
  }

  /** The same, with one setting as another is. */
  public Settings with(Setting setting, Setting like) {
    Map<Setting, Value> changed = new EnumMap<>(values);
    changed.put(setting, value(like));
    return new Settings(changed, programs, runtimes, queues, retries, file);
  }

  private void unlessGiven(Setting setting, Duration value, String origin) {
    if (value(setting).origin().equals("default")) {
      values.put(setting, new Value(Long.toString(value.toSeconds()), origin));
    }
  }

  private static void fromEnvironment(Map<Setting, Value> values, String name, String text) {
    Setting.byVariable(name)
        .ifPresentOrElse(
            setting -> values.put(setting, new Value(text, "environment")),
            () -> {
              if (name.startsWith("HOLDFAST_")
                  && !OF_THE_LAUNCHER.contains(name)
                  && !OF_A_PROGRAM.contains(name)) {
                throw unknown(
                    name, Arrays.stream(Setting.values()).map(Setting::variable).toList());
              }
            });
  }

  static CommandException unknown(String name, List<String> known) {
    String nearest =
        Spelling.nearest(name, known)
            .map(candidate -> ": did you mean '" + candidate + "'?")
            .orElse(": 'holdfast config' lists them all");
    return new CommandException(
        ExitCode.CONFIGURATION, "setting '" + name + "' is unknown" + nearest);
  }

  /** The programs that holdfast.yaml names as handlers. */
  public List<ProgramSettings> programs() {
    return programs;
  }

  /** The commands that holdfast.yaml names as runtimes of steps. */
  public List<RuntimeSettings> runtimes() {
    return runtimes;
  }

  /** What holdfast.yaml says about what a supervisor is to run for each queue. */
  public List<QueueSettings> queues() {
    return queues;
  }

  /** What holdfast.yaml says about how jobs of kinds and queues are retried. */
  RetrySettings.InFile retries() {
    return retries;
  }

  /** All of them, for people: no secret, be it one by itself or a word of a command. */
  public List<ShownSetting> shown() {
    Scrubber scrubber = Scrubber.knowing(List.of());
    List<ShownSetting> shown = new ArrayList<>();
    for (Setting setting : Setting.values()) {
      shown.add(
          new ShownSetting(
              setting.key(),
              setting.variable(),
              scrubber.scrub(masked(setting)),
              value(setting).origin(),
              setting.meaning()));
    }
    for (ProgramSettings program : programs) {
      String command = scrubber.scrub(String.join(" ", program.command()));
      shown.add(
          new ShownSetting(
              "handlers." + program.kind(), "", command, "" + file, "program that runs the kind"));
    }
    for (RuntimeSettings runtime : runtimes) {
      String command = scrubber.scrub(String.join(" ", runtime.command()));
      shown.add(
          new ShownSetting(
              "runtimes." + runtime.name(), "", command, "" + file, "program that runs steps"));
    }
    return shown;
  }

  private String masked(Setting setting) {
    String text = text(setting);
    if (setting.isSecret()) {
      return text.isEmpty() ? "" : "***";
    }
    // A password may stand in any URL, also where it is refused.
    return DatabaseUrl.masked(text);
  }

  /** What the command line said, as another process finds it in its environment. */
  public Map<String, String> optionsAsVariables() {
    Map<String, String> variables = new HashMap<>();
    if (file != null) {
      variables.put(FILE_VARIABLE, file.toAbsolutePath().toString());
    }
    values.forEach(
        (setting, value) -> {
          if (value.origin().equals("option")) {
            variables.put(setting.variable(), value.text());
          }
        });
    return variables;
  }

  public Value value(Setting setting) {
    Value value = values.get(setting);
    if (value == null) {
      throw new IllegalStateException("no value for " + setting);
    }
    return value;
  }

  public String text(Setting setting) {
    return value(setting).text();
  }

  public boolean isGiven(Setting setting) {
    return !text(setting).isBlank();
  }

  public int whole(Setting setting) {
    return parsed(setting, Integer::parseInt, "a whole number");
  }

  long wholeLong(Setting setting) {
    return parsed(setting, Long::parseLong, "a whole number");
  }

  double number(Setting setting) {
    double number = parsed(setting, Double::parseDouble, "a number");
    if (!Double.isFinite(number)) {
      throw wrong(setting, "a number");
    }
    return number;
  }

  public Duration seconds(Setting setting) {
    return Duration.ofMillis(Math.round(number(setting) * 1000));
  }

  public Duration duration(Setting setting) {
    return parsed(setting, Durations::parse, "a duration such as 90s, 15m or 7d");
  }

  public boolean flag(Setting setting) {
    return parsed(
        setting,
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "1", "true", "yes", "on" -> true;
              case "0", "false", "no", "off" -> false;
              default -> throw new IllegalArgumentException(text);
            },
        "true or false");
  }

  /** A folder of its own, or a part of the one where everything lies. */
  public Path folder(Setting setting, String part) {
    return isGiven(setting) ? Path.of(text(setting)) : Path.of(text(Setting.FOLDER)).resolve(part);
  }

  public List<String> list(Setting setting) {
    return Arrays.stream(text(setting).split(",", -1))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }

  public int within(Setting setting, int least, int most) {
    int value = whole(setting);
    if (value < least || value > most) {
      throw wrong(setting, "a whole number from %d to %d".formatted(least, most));
    }
    return value;
  }

  public Duration secondsWithin(Setting setting, double least) {
    if (number(setting) < least || seconds(setting).toDays() > 365) {
      throw wrong(
          setting,
          "a number of seconds, %s, and a year's at most,"
              .formatted(least == 0 ? "0 or more" : least + " or more"));
    }
    return seconds(setting);
  }

  public CommandException wrong(Setting setting, String expected) {
    return new CommandException(
        ExitCode.CONFIGURATION,
        "%s (%s) is '%s' by %s: %s is expected"
            .formatted(
                setting.key(),
                setting.variable(),
                masked(setting),
                value(setting).origin(),
                expected));
  }

  private <T> T parsed(Setting setting, Function<String, T> parse, String expected) {
    try {
      return parse.apply(text(setting).strip());
    } catch (IllegalArgumentException wrong) {
      throw wrong(setting, expected);
    }
  }
}
