package dev.holdfast.app;

import dev.holdfast.queue.DatabaseException;
import dev.holdfast.queue.Health;
import java.util.List;

/**
 * A worker process that a supervisor starts. Its settings are in its environment and what tells it
 * apart in its arguments; a command line for people would take a quarter of its start.
 */
public final class SupervisedWorker {
  private SupervisedWorker() {}

  /**
   * @param arguments which of the bundled kinds it has, and what {@link
   *     dev.holdfast.supervisor.WorkerCommand} adds
   */
  public static void main(String[] arguments) {
    Logs.quiet();
    System.exit(run(List.of(arguments)));
  }

  private static int run(List<String> arguments) {
    try {
      Signals signals = Signals.install();
      Health.Place place =
          new Health.Place(
              after(arguments, "--supervisor"),
              after(arguments, "--component"),
              Integer.parseInt(after(arguments, "--incarnation")));
      Settings settings =
          new Common().settings().with(Setting.SHUTDOWN_TIMEOUT_SEC, Setting.STOP_TIMEOUT_SEC);
      boolean paused = arguments.contains("--paused");
      try (UnderSupervision side = UnderSupervision.begin(signals, place, paused, settings)) {
        serve(side, place, settings, signals, Bundled.named(arguments));
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
      Health.Place place,
      Settings settings,
      Signals signals,
      List<Bundled> bundled)
      throws InterruptedException {
    WorkerSettings.check(settings);
    try (Access access = Access.open(settings).checked();
        Retention retention = Retention.of(settings, access.holdfast());
        WorkerProcess worker =
            WorkerProcess.start(settings, access, place.component(), bundled, side.isPaused())) {
      retention.start();
      side.serve(access.holdfast().queue().health(), worker);
      worker.serve(settings, signals);
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
