package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;

/** What this process logs, and in which form. */
@Section(title = "Log", key = "log")
public record LogConfig(
    @Declared(
            value = "info",
            oneOf = {"error", "warn", "info", "debug"},
            about = "error, warn, info or debug")
        String level,
    @Declared(
            value = "text",
            oneOf = {"text", "json"},
            about = "text for people, json for programs")
        String format) {
  public boolean isJson() {
    return format.equals("json");
  }
}
