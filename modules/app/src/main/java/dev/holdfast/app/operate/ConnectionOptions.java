package dev.holdfast.app.operate;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Version;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.client.http.ServerAddress;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.contract.token.ApprovalLinks;
import dev.holdfast.contract.token.ApprovalTokens;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.operate.LocalOperator;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.auth.Keyring;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that say where the jobs are: in a database, or behind a server. */
public final class ConnectionOptions {
  private static final int MOST_KEY_BYTES = 1_000;

  public @Mixin final CommonOptions common = new CommonOptions();

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "server to use instead of the database")
  @Nullable String server;

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description = {"file with the API key; default: the key in", "HOLDFAST_SERVER_API_KEY"})
  @Nullable Path apiKeyFile;

  public Settings settings() {
    if (server != null && (common.database != null || common.folder != null)) {
      throw new CommandException(
          ExitCode.USAGE,
          "--server names a server, --database and --folder a database: choose one");
    }
    return common.with("server.url", server).settings();
  }

  public Operator open() {
    return open(settings());
  }

  public Operator open(Settings settings) {
    if (isRemote(settings)) {
      return new HttpOperator(settings.get("server.url", URI.class), apiKey(settings));
    }
    Access access = Access.open(settings).checked();
    JobStore store = access.holdfast().store();
    return new LocalOperator(
        store,
        new Principal(System.getProperty("user.name", "unknown"), Tenant.ANY, Role.ADMIN),
        new Diagnostics(store, settings.timings()),
        links(settings, store),
        Version.text(),
        access::close);
  }

  /** Links that lead to the server of the settings; their keys are read when one is made. */
  public static ApprovalLinks.Maker links(Settings settings, JobStore store) {
    return (job, open) -> {
      String server = Settings.variable("server.publicUrl");
      if (!settings.isGiven("server.publicUrl")) {
        throw new CommandException(
            ExitCode.CONFIGURATION,
            "set "
                + server
                + " to where people reach the server, since the link leads there; or ask the server"
                + " itself, with --server");
      }
      URI url = settings.get("server.publicUrl", URI.class);
      ApprovalTokens tokens =
          new ApprovalTokens(new Keyring(store.admin()).ofLinks(), store.queries()::now);
      return new ApprovalLinks(tokens, () -> url).to(job, open);
    };
  }

  /** An option overrides the environment and the file. */
  public boolean isRemote(Settings settings) {
    return server != null
        || (common.database == null && common.folder == null && settings.isGiven("server.url"));
  }

  /** No option holds the key itself: other users can read the arguments of a process. */
  public @Nullable String apiKey(Settings settings) {
    String key =
        apiKeyFile == null ? settings.get("server.apiKey", String.class) : fromFile(apiKeyFile);
    if (key.isEmpty()) {
      return null;
    }
    if (!ServerAddress.isKey(key)) {
      throw new CommandException(
          ExitCode.CONFIGURATION,
          (apiKeyFile == null ? Settings.variable("server.apiKey") : apiKeyFile)
              + " holds no API key: a key looks like hf_0123456789ab_...");
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
