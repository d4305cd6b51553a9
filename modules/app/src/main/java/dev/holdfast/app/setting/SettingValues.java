package dev.holdfast.app.setting;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** The text of every setting and where it came from. It is parsed when it is first read. */
public final class SettingValues {
  private static final String DEFAULT = "default";
  private static final String OPTION = "option";
  private static final String ENVIRONMENT = "environment";

  // Also sslpassword, the password of a client's key.
  private static final Pattern PASSWORD_PARAMETER =
      Pattern.compile("(?i)([?&][a-z]*password=)[^&]*");

  /** A text and its origin. */
  public record Value(String text, String origin) {}

  private final Map<Setting<?>, Value> values;

  private SettingValues(Map<Setting<?>, Value> values) {
    this.values = values;
  }

  public static SettingValues defaults(Iterable<Setting<?>> settings) {
    Map<Setting<?>, Value> values = new HashMap<>();
    settings.forEach(setting -> values.put(setting, new Value(setting.defaultText(), DEFAULT)));
    return new SettingValues(values);
  }

  /**
   * @param file the origin that is shown for these values
   */
  public void putFromFile(Setting<?> setting, String text, String file) {
    values.put(setting, new Value(text, file));
  }

  public void putFromEnvironment(Setting<?> setting, String text) {
    values.put(setting, new Value(setting.fromVariable(text), ENVIRONMENT));
  }

  public void putFromOption(Setting<?> setting, String text) {
    values.put(setting, new Value(text, OPTION));
  }

  /** Replaces the default, but no value that was given. */
  public void putDefault(Setting<?> setting, String text, String origin) {
    if (isDefault(setting)) {
      values.put(setting, new Value(text, origin));
    }
  }

  /** A copy in which one setting has the value of another. */
  public <T> SettingValues with(Setting<T> setting, Setting<T> like) {
    Map<Setting<?>, Value> changed = new HashMap<>(values);
    changed.put(setting, value(like));
    return new SettingValues(changed);
  }

  public Value value(Setting<?> setting) {
    Value value = values.get(setting);
    if (value == null) {
      throw new IllegalStateException("no value for " + setting);
    }
    return value;
  }

  public boolean isGiven(Setting<?> setting) {
    return !value(setting).text().isBlank();
  }

  public boolean isDefault(Setting<?> setting) {
    return value(setting).origin().equals(DEFAULT);
  }

  public boolean isOption(Setting<?> setting) {
    return value(setting).origin().equals(OPTION);
  }

  public void forEachOption(BiConsumer<Setting<?>, String> action) {
    values.forEach(
        (setting, value) -> {
          if (value.origin().equals(OPTION)) {
            action.accept(setting, value.text());
          }
        });
  }

  public <T> T get(Setting<T> setting) {
    try {
      return setting.parse(value(setting).text());
    } catch (IllegalArgumentException | ArithmeticException wrong) {
      throw wrong(setting, setting.expected());
    }
  }

  /** Empty when the setting has no value. */
  public <T> Optional<T> find(Setting<T> setting) {
    return isGiven(setting) ? Optional.of(get(setting)) : Optional.empty();
  }

  public <T> T getOr(Setting<T> setting, Supplier<T> otherwise) {
    return isGiven(setting) ? get(setting) : otherwise.get();
  }

  public CommandException wrong(Setting<?> setting, String expected) {
    return new CommandException(
        ExitCode.CONFIGURATION,
        "%s (%s) is '%s' by %s: %s is expected"
            .formatted(
                setting.key(),
                setting.variable(),
                shown(setting),
                value(setting).origin(),
                expected));
  }

  /** The text without secrets. */
  public String shown(Setting<?> setting) {
    String text = value(setting).text();
    if (setting.isSecret()) {
      return text.isEmpty() ? "" : "***";
    }
    return withoutPasswords(text);
  }

  /** Any text may be a URL with a password, also one that is refused. */
  public static String withoutPasswords(String url) {
    return PASSWORD_PARAMETER
        .matcher(url.replaceAll("(://[^:@/]*):[^@/]*@", "$1:***@"))
        .replaceAll("$1***");
  }

  /** Everything that is wrong: first single values, then values that contradict each other. */
  public List<String> problems(List<Concern> concerns) {
    Set<String> problems = new LinkedHashSet<>();
    for (Concern concern : concerns) {
      int before = problems.size();
      for (Setting<?> setting : concern.settings()) {
        collect(
            problems,
            () -> isGiven(setting) || !setting.defaultText().isEmpty() ? get(setting) : "");
      }
      if (problems.size() == before) {
        collect(problems, () -> concern.read().apply(this));
      }
    }
    return List.copyOf(problems);
  }

  private static void collect(Set<String> problems, Supplier<?> check) {
    try {
      var unused = check.get();
    } catch (CommandException wrong) {
      problems.add(String.valueOf(wrong.getMessage()));
    }
  }
}
