package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.DatabaseUrl;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.config.SupervisorConfig;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.supervisor.Supervisor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Worker processes, for as long as nobody says stop. */
@Command(
    name = "supervise",
    description = {
      "Run worker processes, watch them, and start those again that crash.",
      "How many for which queue is said under 'queues' in holdfast.yaml. A signal stops them, each"
          + " with the time its jobs may take; a second one ends the supervisor at once, and its"
          + " workers notice."
    })
public final class SuperviseCommand implements Callable<Integer> {
  private static final long MOMENT_MILLIS = 200;

  @Mixin final CommonOptions common = new CommonOptions();

  @Mixin final WorkerChoice choice = new WorkerChoice();

  @Option(names = "--examples", description = "also run the example kinds of 'holdfast dev'")
  boolean examples;

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    Settings settings = choice.over(common).settings();
    settings.checkWorker();
    Supervision.check(settings);
    DatabaseUrl url = Access.locate(settings);
    try (Access access = Access.open(settings, url).checked();
        Supervisor supervisor =
            Supervision.start(
                settings,
                access,
                url,
                examples ? List.of(BundledKinds.EXAMPLES) : List.of(),
                SuperviseCommand::echo)) {
      String about = Supervision.describe(settings);
      Duration boot = settings.get(SupervisorConfig.BOOT_TIMEOUT);
      System.out.println(
          (awaitHealthy(supervisor, signals, boot) ? "ready: " : "not all workers are healthy: ")
              + about
              + missing(supervisor.standing()));
      while (!signals.await(MOMENT_MILLIS)) {
        if (supervisor.isReplaced()) {
          throw new CommandException(
              ExitCode.REFUSED,
              "another supervisor has taken this one's name: give each its own with "
                  + SupervisorConfig.NAME.variable());
        }
      }
      System.out.println("stopping; a second signal ends it at once");
    }
    System.out.println("stopped");
    return ExitCode.OK;
  }

  static boolean awaitHealthy(Supervisor supervisor, Signals signals, Duration patience)
      throws InterruptedException {
    long until = System.nanoTime() + patience.toNanos();
    while (System.nanoTime() < until && !signals.await(1)) {
      if (supervisor.awaitHealthy(Duration.ofMillis(MOMENT_MILLIS))) {
        return true;
      }
    }
    return false;
  }

  /** Which of them do not work, and what to do; empty when all do. */
  static String missing(Supervisor.Standing standing) {
    String text = "";
    if (!standing.stopped().isEmpty()) {
      text +=
          "; stopped: %s ('holdfast workers resume' starts it)"
              .formatted(String.join(", ", standing.stopped()));
    }
    if (!standing.unhealthy().isEmpty()) {
      text +=
          "; not healthy: %s ('holdfast health' says why)"
              .formatted(String.join(", ", standing.unhealthy()));
    }
    return text;
  }

  private static void echo(String line) {
    System.out.println(line);
  }
}
