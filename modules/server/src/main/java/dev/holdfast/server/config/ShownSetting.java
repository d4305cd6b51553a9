package dev.holdfast.server.config;

/**
 * One setting of the process, with secrets already hidden.
 *
 * @param variable its name in the environment; empty for settings of the file only
 * @param origin the default, a file, the environment, an option or a preset
 */
public record ShownSetting(
    String key, String variable, String value, String origin, String meaning) {}
