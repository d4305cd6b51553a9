package dev.holdfast.app;

import dev.holdfast.contract.Control;
import dev.holdfast.contract.RemoteControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a command reaches the jobs: in the database itself, or through a server. */
final class Reach {
  private static final int MOST_KEY_BYTES = 1_000;

  @Mixin final Common common = new Common();

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "server to go through instead of the database")
  @Nullable String server;

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description = "file with the API key (default: HOLDFAST_API_KEY)")
  @Nullable Path apiKeyFile;

  Settings settings() {
    if (server != null && (common.database != null || common.folder != null)) {
      throw new CommandException(
          ExitCode.USAGE, "--server goes through a server, --database and --folder do not: choose");
    }
    return common.with(Setting.SERVER_URL, server).settings();
  }

  Control open() {
    return open(settings());
  }

  Control open(Settings settings) {
    if (isRemote(settings)) {
      return new RemoteControl(ServerSettings.url(settings, Setting.SERVER_URL), apiKey(settings));
    }
    return new DirectControl(Access.open(settings).checked(), WorkerSettings.timings(settings));
  }

  /** What an option says wins over the environment and the file. */
  boolean isRemote(Settings settings) {
    return server != null
        || (common.database == null
            && common.folder == null
            && settings.isGiven(Setting.SERVER_URL));
  }

  /** Never an option by itself: others can see the arguments of a process. */
  @Nullable String apiKey(Settings settings) {
    String key = apiKeyFile == null ? settings.text(Setting.API_KEY).strip() : fromFile(apiKeyFile);
    if (key.isEmpty()) {
      return null;
    }
    // It becomes part of a header.
    if (key.chars().anyMatch(c -> c <= ' ' || c > '~')) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          (apiKeyFile == null ? Setting.API_KEY.variable() : apiKeyFile)
              + " holds no API key: one looks like hf_0123456789ab_...");
    }
    return key;
  }

  private static String fromFile(Path file) {
    try {
      if (Files.size(file) <= MOST_KEY_BYTES) {
        return Files.readString(file).strip();
      }
      throw new CommandException(
          ExitCode.CONFIGURATION, "--api-key-file: " + file + " is too large to be an API key");
    } catch (IOException unreadable) {
      throw new CommandException(
          ExitCode.CONFIGURATION, "--api-key-file: " + file + " cannot be read");
    }
  }
}
