package dev.holdfast.app.run;

import dev.holdfast.app.cli.Version;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.contract.operate.KeyOperator;
import dev.holdfast.contract.operate.Principal;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.operate.LocalOperator;
import dev.holdfast.process.Command;
import dev.holdfast.process.NoSuchProgramException;
import dev.holdfast.process.ProcessTree;
import dev.holdfast.queue.JobStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Programs that run beside {@code holdfast dev}, such as workers in another language. They find the
 * server by environment variables, their output is shown line by line, and they end with it.
 */
final class DevPrograms implements AutoCloseable {
  private static final int LONGEST_LINE = 16 << 10;

  private final Settings settings;
  private final Access access;
  private final Consumer<String> echo;
  private final List<Thread> watchers = new ArrayList<>();
  private @Nullable KeyOperator keys;
  private KeyOperator.@Nullable NewKey key;

  /**
   * @param echo gets what they print, line by line
   */
  DevPrograms(Settings settings, Access access, Consumer<String> echo) {
    this.settings = settings;
    this.access = access;
    this.echo = echo;
  }

  /**
   * @param commands lines for a shell
   * @param server its address
   */
  void start(List<String> commands, String server) {
    if (commands.isEmpty()) {
      return;
    }
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put(Settings.variable("server.url"), server);
    String apiKey = apiKey();
    if (!apiKey.isEmpty()) {
      environment.put(Settings.variable("server.apiKey"), apiKey);
    }
    for (int number = 0; number < commands.size(); number++) {
      start("with:" + number, commands.get(number), environment);
    }
  }

  /**
   * The one of the settings. A server that has keys wants one, so without any a key is made that is
   * revoked at the end; the first key is not made here, because from then on every command of the
   * user would need one.
   */
  private String apiKey() {
    String given = settings.get("server.apiKey", String.class);
    if (!given.isEmpty() || !access.holdfast().store().admin().hasKeys()) {
      return given;
    }
    JobStore store = access.holdfast().store();
    keys =
        new LocalOperator(
                store,
                new Principal("dev", Tenant.ANY, Role.ADMIN),
                new Diagnostics(store, Timings.DEFAULT),
                ConnectionOptions.links(settings, store),
                Version.text(),
                () -> {})
            .keys();
    key = keys.create("dev --with", Role.WORKER, null, null);
    return key.key();
  }

  private void start(String name, String command, Map<String, String> environment) {
    Duration stopTimeout = settings.get("supervisor.stopTimeout", Duration.class);
    List<String> shell = List.of("/bin/sh", "-c", command);
    try {
      ProcessTree tree =
          ProcessTree.start(
              new Command(shell, Path.of("").toAbsolutePath(), environment),
              LONGEST_LINE,
              (line, cut) -> echo.accept(name + " | " + line),
              (line, cut) -> echo.accept(name + " | " + line));
      watchers.add(
          Thread.ofPlatform()
              .name(name)
              .start(
                  () -> {
                    int exit = tree.awaitOrStop(stopTimeout);
                    if (!Thread.currentThread().isInterrupted()) {
                      echo.accept(name + " | --- " + ProcessTree.howItEnded(exit) + ": " + command);
                    }
                  }));
    } catch (NoSuchProgramException missing) {
      throw new CommandException(ExitCode.CONFIGURATION, "--with needs /bin/sh, which is missing");
    } catch (IOException failed) {
      throw new UncheckedIOException("cannot start " + command, failed);
    }
  }

  /** Asks all of them to end and waits until they have; called while the server still answers. */
  @Override
  public void close() {
    watchers.forEach(Thread::interrupt);
    for (Thread watcher : watchers) {
      boolean interrupted = Thread.interrupted();
      try {
        watcher.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (keys != null && key != null) {
      keys.revoke(key.id());
    }
  }
}
