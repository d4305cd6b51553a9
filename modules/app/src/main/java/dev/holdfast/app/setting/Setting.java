package dev.holdfast.app.setting;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of one setting: its key in holdfast.yaml, its environment variable, its type and
 * limits, its default and its description.
 *
 * <p>The variable follows from the key: {@code server.publicUrl} is {@code
 * HOLDFAST_SERVER_PUBLIC_URL}. Only the settings that the requirements name keep the variable that
 * is given there, such as {@code HEARTBEAT_INTERVAL_SEC}.
 */
public final class Setting<T> {
  public static final String PREFIX = "HOLDFAST_";

  private final String key;
  private final String variable;
  private final String unit;
  private final SettingType<T> type;
  private final String defaultText;
  private final String description;
  private final boolean secret;

  private Setting(
      String key,
      String variable,
      String unit,
      SettingType<T> type,
      String defaultText,
      String description,
      boolean secret) {
    this.key = key;
    this.variable = variable;
    this.unit = unit;
    this.type = type;
    this.defaultText = defaultText;
    this.description = description;
    this.secret = secret;
  }

  /**
   * @param defaultText as it would be written in the file; empty when the setting has no value
   *     unless one is given
   */
  public static <T> Setting<T> of(
      String key, SettingType<T> type, String defaultText, String description) {
    return new Setting<>(key, variableOf(key), "", type, defaultText, description, false);
  }

  /** A setting without a default. */
  public static <T> Setting<T> of(String key, SettingType<T> type, String description) {
    return of(key, type, "", description);
  }

  /** The same with the variable that the requirements name. */
  public Setting<T> named(String givenVariable) {
    return named(givenVariable, "");
  }

  /**
   * @param givenUnit the unit of a bare number in this variable, such as {@code s} for one that
   *     ends in {@code _SEC}
   */
  public Setting<T> named(String givenVariable, String givenUnit) {
    return new Setting<>(key, givenVariable, givenUnit, type, defaultText, description, secret);
  }

  /** The same, but its value is never shown. */
  public Setting<T> hidden() {
    return new Setting<>(key, variable, unit, type, defaultText, description, true);
  }

  private static String variableOf(String key) {
    return PREFIX
        + key.replaceAll("([a-z])([A-Z])", "$1_$2").replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /** What the variable says, written as in the file: "10" in HEARTBEAT_INTERVAL_SEC is "10s". */
  String fromVariable(String text) {
    String stripped = text.strip();
    return !unit.isEmpty() && stripped.matches("-?\\d+(\\.\\d+)?") ? stripped + unit : text;
  }

  T parse(String text) {
    return type.parse().apply(text.strip());
  }

  public String key() {
    return key;
  }

  public String variable() {
    return variable;
  }

  public String defaultText() {
    return defaultText;
  }

  public String description() {
    return description;
  }

  /** What kind of value it takes, and within which limits. */
  public String expected() {
    return type.expected();
  }

  /** The unit of a bare number in the variable; null when there is none. */
  public @Nullable String unit() {
    return unit.isEmpty() ? null : unit;
  }

  public boolean isSecret() {
    return secret;
  }

  @Override
  public String toString() {
    return key;
  }
}
