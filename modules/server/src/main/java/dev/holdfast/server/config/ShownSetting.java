package dev.holdfast.server.config;

/**
 * One setting of the process, as people may see it: secrets are hidden already.
 *
 * @param variable its name in the environment; empty for what only the file can say
 * @param origin the default, a file, the environment, an option or a preset
 */
public record ShownSetting(
    String key, String variable, String value, String origin, String meaning) {}
