package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.DatabaseUrl;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.supervisor.Supervisor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs worker processes until a signal arrives. */
@Command(
    name = "supervise",
    description = {
      "Run worker processes and restart those that crash.",
      "'queues' in holdfast.yaml says how many processes each queue gets. A signal",
      "stops them and waits for their jobs; a second signal ends the supervisor at",
      "once, and the processes then end by themselves."
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
                SuperviseCommand::echo);
        ServerMetrics metrics = new ServerMetrics(settings.metrics().target())) {
      metrics.send(() -> Supervision.recovered(supervisor));
      String about = Supervision.describe(settings);
      Duration boot = settings.get("supervisor.bootTimeout", Duration.class);
      Terminal.println(
          (awaitHealthy(supervisor, signals, boot) ? "ready: " : "not all workers are healthy: ")
              + about
              + missing(supervisor.standing()));
      while (!signals.await(MOMENT_MILLIS)) {
        if (supervisor.isReplaced()) {
          throw new CommandException(
              ExitCode.REFUSED,
              "another supervisor has taken the name of this one: give each its own with "
                  + Settings.variable("supervisor.name"));
        }
      }
      Terminal.println("stopping; a second signal ends it at once");
    }
    Terminal.println("stopped");
    return ExitCode.OK;
  }

  static boolean awaitHealthy(Supervisor supervisor, Signals signals, Duration timeout)
      throws InterruptedException {
    long until = System.nanoTime() + timeout.toNanos();
    while (System.nanoTime() < until && !signals.await(1)) {
      if (supervisor.awaitHealthy(Duration.ofMillis(MOMENT_MILLIS))) {
        return true;
      }
    }
    return false;
  }

  /** Which workers are stopped or not healthy, and what to do; empty when there are none. */
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
    Terminal.println(line);
  }
}
