package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.cli.Version;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.metrics.ServerMetrics;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Serves the API until a signal arrives. */
@Command(
    name = "server",
    description = {
      "Serve the HTTP API until a signal arrives.",
      "Any number of servers may run on one database. Without API keys, a server",
      "listens on this machine only: 'holdfast keys create' creates one."
    })
public final class ServerCommand implements Callable<Integer> {
  @Mixin final CommonOptions common = new CommonOptions();

  @Option(names = "--host", paramLabel = "ADDRESS", description = "address to listen on")
  @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "port to listen on; 0 is any free port")
  @Nullable Integer port;

  @Option(names = "--migrate", description = "create or update the schema first")
  boolean migrate;

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    Settings settings = common.with("server.host", host).with("server.port", port).settings();
    ServerOptions options = settings.server();
    Ports.check(options, "--port");
    ServerMetrics metrics = new ServerMetrics(options.statsd());
    try (Access access = Access.open(settings, Access.locate(settings), metrics)) {
      if (migrate) {
        Migrations.apply(access.dataSource(), access.allowsUnsafe());
      }
      access.checked();
      access.retain(settings);
      try (HoldfastServer server = HoldfastServer.start(access.holdfast(), options, metrics)) {
        Terminal.println("ready: holdfast " + Version.text() + " at " + server.url());
        if (!access.holdfast().store().admin().hasKeys()) {
          Terminal.println(
              "there are no API keys: everybody on this machine may do everything"
                  + " ('holdfast keys create' creates one)");
        }
        signals.await();
      }
    }
    Terminal.println("stopped");
    return ExitCode.OK;
  }
}
