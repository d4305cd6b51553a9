package dev.holdfast.app.setting;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A declared setting. */
public final class Setting {
  public static final String PREFIX = "HOLDFAST_";

  private static final Pattern UNIT = Pattern.compile(".*_(SEC|SECONDS|MS)");

  private final String key;
  private final String variable;
  private final @Nullable String unit;
  private final SettingType<?> type;
  private final Declared declared;

  Setting(String key, SettingType<?> type, Declared declared) {
    this.key = key;
    this.variable = declared.variable().isEmpty() ? variableOf(key) : declared.variable();
    this.type = type;
    this.declared = declared;
    Matcher named = UNIT.matcher(variable);
    this.unit = named.matches() ? (named.group(1).equals("MS") ? "ms" : "s") : null;
  }

  private static String variableOf(String key) {
    return PREFIX
        + key.replaceAll("([a-z])([A-Z])", "$1_$2").replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /** What the variable says, written as in the file: "10" in HEARTBEAT_INTERVAL_SEC is "10s". */
  String fromVariable(String text) {
    String stripped = text.strip();
    return unit != null && stripped.matches("-?\\d+(\\.\\d+)?") ? stripped + unit : text;
  }

  Object parse(String text) {
    return type.parse().apply(text.strip());
  }

  public String key() {
    return key;
  }

  public String variable() {
    return variable;
  }

  /** Empty when the setting has no value unless one is given. */
  public String defaultText() {
    return declared.value();
  }

  public String description() {
    return declared.about();
  }

  /** What kind of value it takes, and within which limits. */
  public String expected() {
    return type.expected();
  }

  /** The unit of a bare number in the variable; null when there is none. */
  public @Nullable String unit() {
    return unit;
  }

  public boolean isSecret() {
    return declared.secret();
  }

  @Override
  public String toString() {
    return key;
  }
}
