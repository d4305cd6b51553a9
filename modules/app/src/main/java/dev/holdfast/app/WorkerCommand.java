package dev.holdfast.app;

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
  @Mixin final Common common = new Common();

  @Mixin final WorkerChoice choice = new WorkerChoice();

  @Option(
      names = "--component",
      paramLabel = "ID",
      description = "component id, worker:{queue}:{n}")
  @Nullable String component;

  @Option(names = "--examples", description = "also run the example kinds of 'holdfast dev'")
  boolean examples;

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    Settings settings = choice.over(common).settings();
    WorkerProcess.check(settings);
    try (Access access = Access.open(settings).checked();
        WorkerProcess worker = WorkerProcess.start(settings, access, component, examples)) {
      System.out.println("ready: " + worker.describe());
      signals.await();
    }
    return ExitCode.OK;
  }
}
