package dev.holdfast.app.run;

import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.client.worker.HttpSource;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs jobs until a signal arrives. */
@Command(
    name = "worker",
    description = {
      "Run jobs until a signal arrives.",
      "It then claims no more jobs, waits for those that run, and releases those that",
      "take longer than SHUTDOWN_TIMEOUT_SEC. A second signal ends it immediately.",
      "Handlers are programs under 'handlers' in holdfast.yaml, and jars with a",
      "dev.holdfast.KindProvider on HOLDFAST_CLASSPATH."
    })
public final class WorkerCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();

  @Mixin final WorkerChoice choice = new WorkerChoice();

  @Option(
      names = "--component",
      paramLabel = "ID",
      description = "name of this worker, worker:{queue}:{n}")
  @Nullable String component;

  @Option(names = "--examples", description = "also run the example kinds of 'holdfast dev'")
  boolean examples;

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    choice.over(connection.common);
    Settings settings = connection.settings();
    List<BundledKinds> bundled = examples ? List.of(BundledKinds.EXAMPLES) : List.of();
    settings.checkWorker();
    if (connection.isRemote(settings)) {
      try (HttpSource server =
              HttpSource.to(settings.get("server.url", URI.class), connection.apiKey(settings));
          WorkerProcess worker = WorkerProcess.start(settings, server, component, bundled)) {
        worker.serve(settings, signals);
      }
    } else {
      try (Access access = Access.open(settings).checked();
          WorkerProcess worker = WorkerProcess.start(settings, access, component, bundled)) {
        worker.serve(settings, signals);
      }
    }
    return ExitCode.OK;
  }
}
