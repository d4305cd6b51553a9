package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.oneOf;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import java.util.List;

/** What this process logs, and in which form. */
public record LogConfig(String level, String format) {
  public static final Setting<String> LEVEL =
      Setting.of(
          "log.level",
          oneOf("error", "warn", "info", "debug"),
          "info",
          "error, warn, info or debug");

  static final Setting<String> FORMAT =
      Setting.of("log.format", oneOf("text", "json"), "text", "text for people, json for programs");

  static final Concern CONCERN = new Concern("Log", List.of(LEVEL, FORMAT), LogConfig::read);

  static LogConfig read(SettingValues values) {
    return new LogConfig(values.get(LEVEL), values.get(FORMAT));
  }

  public boolean isJson() {
    return format.equals("json");
  }
}
