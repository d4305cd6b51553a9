package dev.holdfast.app.cli;

import dev.holdfast.app.config.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of every command: where the settings and the database are. */
public final class CommonOptions {
  private static final Path FILE = Path.of("holdfast.yaml");

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "settings file; default: holdfast.yaml, if it exists")
  @Nullable Path config;

  @Option(
      names = "--database",
      paramLabel = "URL",
      description = "PostgreSQL to use instead of the configured one")
  public @Nullable String database;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description = "folder of the embedded PostgreSQL and of files")
  public @Nullable Path folder;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this help")
  boolean help;

  Map<String, String> environment = System.getenv();
  private final Map<String, String> options = new HashMap<>();

  /**
   * A value from an option of the command itself.
   *
   * @param setting its key
   */
  public CommonOptions with(String setting, @Nullable Object value) {
    if (value != null) {
      options.put(setting, value.toString());
    }
    return this;
  }

  public Settings settings() {
    Settings settings = unchecked();
    Logs.configure(settings);
    return settings;
  }

  /** The settings, without setting up the logs: their settings may be wrong. */
  public Settings unchecked() {
    with("database.url", database).with("folder", folder);
    return Settings.load(options, environment, file());
  }

  private @Nullable Path file() {
    if (config != null) {
      return config;
    }
    String named = environment.get("HOLDFAST_CONFIG");
    if (named != null && !named.isBlank()) {
      return Path.of(named);
    }
    return Files.exists(FILE) ? FILE : null;
  }
}
