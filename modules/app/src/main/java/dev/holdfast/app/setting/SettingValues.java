package dev.holdfast.app.setting;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  private final Map<String, Setting> settings;
  private final Map<String, Value> values;

  private SettingValues(Map<String, Setting> settings, Map<String, Value> values) {
    this.settings = settings;
    this.values = values;
  }

  public static SettingValues defaults(List<Setting> settings) {
    Map<String, Setting> byKey = new HashMap<>();
    Map<String, Value> values = new HashMap<>();
    for (Setting setting : settings) {
      byKey.put(setting.key(), setting);
      values.put(setting.key(), new Value(setting.defaultText(), DEFAULT));
    }
    return new SettingValues(byKey, values);
  }

  public Setting setting(String key) {
    Setting setting = settings.get(key);
    if (setting == null) {
      throw new IllegalArgumentException("there is no setting " + key);
    }
    return setting;
  }

  /**
   * @param file the origin that is shown for these values
   */
  public void putFromFile(String key, String text, String file) {
    put(key, text, file);
  }

  public void putFromEnvironment(String key, String text) {
    put(key, setting(key).fromVariable(text), ENVIRONMENT);
  }

  public void putFromOption(String key, String text) {
    put(key, text, OPTION);
  }

  /** Replaces the default, but no value that was given. */
  public void putDefault(String key, String text, String origin) {
    if (isDefault(key)) {
      put(key, text, origin);
    }
  }

  private void put(String key, String text, String origin) {
    values.put(setting(key).key(), new Value(text, origin));
  }

  /** A copy in which one setting has the value of another. */
  public SettingValues with(String key, String like) {
    Map<String, Value> changed = new HashMap<>(values);
    changed.put(setting(key).key(), value(like));
    return new SettingValues(settings, changed);
  }

  public Value value(String key) {
    return Objects.requireNonNull(values.get(setting(key).key()));
  }

  String text(String key) {
    return value(key).text();
  }

  public boolean isGiven(String key) {
    return !text(key).isBlank();
  }

  public boolean isDefault(String key) {
    return value(key).origin().equals(DEFAULT);
  }

  public boolean isOption(String key) {
    return value(key).origin().equals(OPTION);
  }

  public void forEachOption(BiConsumer<Setting, String> action) {
    values.forEach(
        (key, value) -> {
          if (value.origin().equals(OPTION)) {
            action.accept(setting(key), value.text());
          }
        });
  }

  public Object get(String key) {
    Setting setting = setting(key);
    try {
      return setting.parse(text(key));
    } catch (IllegalArgumentException | ArithmeticException wrong) {
      throw wrong(key, setting.expected());
    }
  }

  public CommandException wrong(String key, String expected) {
    return new CommandException(
        ExitCode.CONFIGURATION,
        "%s (%s) is '%s' by %s: %s is expected"
            .formatted(key, setting(key).variable(), shown(key), value(key).origin(), expected));
  }

  /** The text without secrets. */
  public String shown(String key) {
    if (setting(key).isSecret()) {
      return text(key).isEmpty() ? "" : "***";
    }
    return withoutPasswords(text(key));
  }

  /** Any text may be a URL with a password, also one that is refused. */
  public static String withoutPasswords(String url) {
    return PASSWORD_PARAMETER
        .matcher(url.replaceAll("(://[^:@/]*):[^@/]*@", "$1:***@"))
        .replaceAll("$1***");
  }

  /** Everything that is wrong: first single values, then values that contradict each other. */
  public List<String> problems(List<Concern<?>> concerns) {
    Set<String> problems = new LinkedHashSet<>();
    for (Concern<?> concern : concerns) {
      int before = problems.size();
      for (Setting setting : concern.settings()) {
        if (isGiven(setting.key()) || !setting.defaultText().isEmpty()) {
          collect(problems, () -> get(setting.key()));
        }
      }
      if (problems.size() == before) {
        collect(problems, () -> concern.read(this));
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
