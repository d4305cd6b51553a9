package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Logs;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.util.List;

/**
 * A worker process that a supervisor starts. Its settings are in its environment, its identity in
 * its arguments. It does without picocli, which would take a quarter of its start-up time.
 */
public final class SupervisedWorker {
  private SupervisedWorker() {}

  /**
   * @param arguments the bundled kinds, and those that {@link
   *     dev.holdfast.supervisor.WorkerCommandLine} appends
   */
  public static void main(String[] arguments) {
    Logs.quiet();
    System.exit(run(List.of(arguments)));
  }

  private static int run(List<String> arguments) {
    try {
      Signals signals = Signals.install();
      WorkerProcesses.Place place =
          new WorkerProcesses.Place(
              after(arguments, "--supervisor"),
              after(arguments, "--component"),
              Integer.parseInt(after(arguments, "--incarnation")));
      Settings settings =
          new CommonOptions().settings().with("worker.shutdownTimeout", "supervisor.stopTimeout");
      boolean paused = arguments.contains("--paused");
      try (UnderSupervision side = UnderSupervision.begin(signals, place, paused, settings)) {
        serve(side, place, settings, signals, BundledKinds.named(arguments));
      }
      return ExitCode.OK;
    } catch (Exception thrown) {
      return Failures.report(thrown);
    }
  }

  private static String after(List<String> arguments, String name) {
    return arguments.get(arguments.indexOf(name) + 1);
  }

  private static void serve(
      UnderSupervision side,
      WorkerProcesses.Place place,
      Settings settings,
      Signals signals,
      List<BundledKinds> bundled)
      throws InterruptedException {
    settings.checkWorker();
    try (Access access = Access.open(settings).checked();
        WorkerProcess worker =
            WorkerProcess.start(settings, access, place.component(), bundled, side.isPaused())) {
      side.serve(access.holdfast().store().workers().processes(), worker);
      worker.serve(settings, signals);
      side.stopping();
    } catch (CommandException | DatabaseException e) {
      // Not 3: a JVM that is out of memory exits with that code.
      if (Failures.exitCode(e) == ExitCode.DATABASE_AWAY) {
        throw new CommandException(ExitCode.DATABASE_UNFIT, String.valueOf(e.getMessage()));
      }
      throw e;
    }
  }
}
