package dev.holdfast.app;

import dev.holdfast.contract.HttpSource;
import dev.holdfast.queue.DatabaseException;
import dev.holdfast.queue.Health;
import dev.holdfast.server.ServerMetrics;
import dev.holdfast.server.ServerOptions;
import dev.holdfast.worker.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs jobs until it is told to stop. */
@Command(
    name = "worker",
    description = {
      "Run jobs until a signal says stop.",
      "It then claims nothing more, lets running jobs finish and gives back at once those that"
          + " take longer. A second signal ends it immediately. Handlers come from jars on"
          + " HOLDFAST_CLASSPATH that bring a dev.holdfast.KindProvider."
    })
final class WorkerCommand implements Callable<Integer> {
  @Mixin final Reach reach = new Reach();

  @Mixin final WorkerChoice choice = new WorkerChoice();

  @Option(
      names = "--component",
      paramLabel = "ID",
      description = "component id, worker:{queue}:{n}")
  @Nullable String component;

  @Option(names = "--examples", description = "also run the example kinds of 'holdfast dev'")
  boolean examples;

  @Option(names = "--demo", hidden = true, description = "also run the kinds of 'holdfast demo'")
  boolean demo;

  @Option(
      names = "--supervisor",
      hidden = true,
      description = "the supervisor whose process this is")
  @Nullable String supervisor;

  @Option(names = "--incarnation", hidden = true, description = "which process of its component")
  int incarnation;

  @Option(names = "--paused", hidden = true, description = "take no jobs yet")
  boolean paused;

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    choice.over(reach.common);
    Settings settings = reach.settings();
    if (supervisor != null && component != null) {
      supervised(signals, settings, new Health.Place(supervisor, component, incarnation));
      return ExitCode.OK;
    }
    WorkerProcess.check(settings);
    if (reach.isRemote(settings)) {
      try (HttpSource server =
              HttpSource.to(
                  ServerSettings.url(settings, Setting.SERVER_URL), reach.apiKey(settings));
          WorkerProcess worker = WorkerProcess.start(settings, server, component, bundled())) {
        serve(worker, settings, signals);
      }
    } else {
      try (Access access = Access.open(settings).checked();
          Retention retention = Retention.of(settings, access.holdfast());
          WorkerProcess worker = WorkerProcess.start(settings, access, component, bundled())) {
        retention.start();
        serve(worker, settings, signals);
      }
    }
    return ExitCode.OK;
  }

  private void supervised(Signals signals, Settings given, Health.Place place)
      throws InterruptedException {
    Settings settings = given.with(Setting.SHUTDOWN_TIMEOUT_SEC, Setting.STOP_TIMEOUT_SEC);
    try (UnderSupervision side = UnderSupervision.begin(signals, place, paused, settings)) {
      WorkerProcess.check(settings);
      try (Access access = Access.open(settings).checked();
          Retention retention = Retention.of(settings, access.holdfast());
          WorkerProcess worker =
              WorkerProcess.start(settings, access, component, bundled(), side.isPaused())) {
        retention.start();
        side.serve(access.holdfast().queue().health(), worker);
        serve(worker, settings, signals);
        side.stopping();
      } catch (CommandException | DatabaseException trouble) {
        // 3 is what Java itself ends with when it is out of memory.
        if (Failures.exitCode(trouble) == ExitCode.DATABASE_AWAY) {
          throw new CommandException(ExitCode.DATABASE_UNFIT, String.valueOf(trouble.getMessage()));
        }
        throw trouble;
      }
    }
  }

  /** The kinds that come with the program, as far as they are wanted. */
  private List<Kind<?>> bundled() {
    List<Kind<?>> kinds = new ArrayList<>();
    if (examples) {
      kinds.addAll(ExampleKinds.all());
    }
    if (demo) {
      kinds.addAll(DemoKinds.all());
    }
    return kinds;
  }

  private static void serve(WorkerProcess worker, Settings settings, Signals signals)
      throws InterruptedException {
    ServerOptions.Statsd statsd = ServerSettings.statsd(settings);
    if (statsd == null) {
      awaitEnd(worker, signals);
      return;
    }
    try (ServerMetrics metrics = new ServerMetrics().addWorker(worker.metrics())) {
      metrics.sendTo(statsd);
      awaitEnd(worker, signals);
    }
  }

  private static void awaitEnd(WorkerProcess worker, Signals signals) throws InterruptedException {
    System.out.println("ready: " + worker.describe());
    signals.await();
  }
}
