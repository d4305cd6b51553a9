package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Logs;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.DatabaseUrl;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.demo.Demo;
import dev.holdfast.app.demo.DemoStage;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.supervisor.Supervisor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows in a minute how jobs recover from crashes, hangs and errors. */
@Command(
    name = "demo",
    description = {
      "Show jobs that run, crash, hang and recover.",
      "Uses the database of a running 'holdfast dev', else one of its own.",
      "Its workers, queues and jobs are named 'demo'; nothing else is changed."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  @Mixin final CommonOptions common = new CommonOptions();

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    Settings given = common.settings();
    Path folder = given.get("folder", Path.class);
    if (given.isGiven("database.url") || EmbeddedPostgres.find(folder).isPresent()) {
      int code = play(given, Access.locate(given), signals);
      say("next", "./holdfast jobs list --queue demo", "what became of them");
      say("", "", "the page of your server shows them, too");
      return code;
    }
    int code;
    try (EmbeddedPostgres postgres = DevCommand.embedded(given)) {
      DatabaseUrl url = new DatabaseUrl(postgres.jdbcUrl(), postgres.user(), postgres.password());
      code = play(given, url, signals);
    }
    say("next", "./holdfast dev", "a page with these jobs, and workers for your own");
    return code;
  }

  private static void say(String what, String command, String words) {
    Terminal.printf("%-5s %-34s %s%n", what, command, words);
  }

  private int play(Settings given, DatabaseUrl url, Signals signals) throws InterruptedException {
    try (DemoStage stage = DemoStage.in(given.get("folder", Path.class))) {
      return play(given, url, stage, signals);
    }
  }

  private int play(Settings given, DatabaseUrl url, DemoStage stage, Signals signals)
      throws InterruptedException {
    Path file = stage.settings();
    Settings settings = settings(given, file);
    Logs.configure(settings);
    ServerMetrics metrics = new ServerMetrics(settings.metrics().target());
    try (Access access = Access.open(settings, url, metrics)) {
      Migrations.apply(access.dataSource(), access.allowsUnsafe());
      // A server of its own at any free port: another one may run, at an unknown address.
      try (HoldfastServer server =
              HoldfastServer.start(access.holdfast(), settings.server(), metrics);
          Supervisor supervisor =
              Supervision.start(
                  settings, access, url, List.of(BundledKinds.DEMO), DemoCommand::ignore)) {
        metrics.send(() -> Supervision.recovered(supervisor));
        Terminal.println("starting workers ...");
        if (!SuperviseCommand.awaitHealthy(
            supervisor, signals, settings.get("supervisor.bootTimeout", Duration.class))) {
          throw new CommandException(
              ExitCode.HANDLERS,
              "the workers of the demo do not become healthy: see 'holdfast logs'");
        }
        boolean stays = Boolean.getBoolean("holdfast.terminal");
        boolean fine =
            new Demo(
                    access.holdfast(),
                    settings.get("supervisor.name", String.class),
                    server.url(),
                    stays)
                .play(stage, signals, TIMEOUT);
        if (signals.await(0)) {
          Terminal.println("stopped before the end");
        } else if (stays) {
          Terminal.println("the page stays until you press Ctrl-C: " + server.url());
          signals.await();
        }
        Terminal.println("stopping workers and page; the jobs are kept");
        return fine ? ExitCode.OK : ExitCode.JOB_NOT_SUCCEEDED;
      }
    }
  }

  private static Settings settings(Settings given, Path file) {
    Map<String, String> options = new HashMap<>();
    options.put("worker.queues", String.join(",", Demo.QUEUE, Demo.AGENT, Demo.RISKY));
    // Enough for all jobs at once, so that none waits for another.
    options.put("worker.concurrency", "16");
    options.put("worker.processes", "1");
    options.put("supervisor.name", "demo-" + ProcessHandle.current().pid());
    options.put("folder", given.get("folder", Path.class).toString());
    options.put("server.port", "0");
    options.put("supervisor.stopTimeout", "2s");
    options.put("log.level", "error");
    return Settings.load(options, System.getenv(), file);
  }

  /** The output of the workers is in their logs; here it would interrupt the demo. */
  private static void ignore(String line) {}
}
