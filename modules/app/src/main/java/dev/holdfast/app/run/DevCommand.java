package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.cli.Version;
import dev.holdfast.app.config.Access;
import dev.holdfast.app.config.DatabaseUrl;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.demo.BundledKinds;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.metrics.ServerMetrics;
import dev.holdfast.supervisor.Supervisor;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs everything on one machine: database, schema, API, workers under a supervisor. */
@Command(
    name = "dev",
    description = {
      "Run everything on this machine: PostgreSQL, API and workers.",
      "The database is an embedded PostgreSQL, or the one of HOLDFAST_DATABASE_URL.",
      "The workers have the example kinds and those on HOLDFAST_CLASSPATH."
    })
public final class DevCommand implements Callable<Integer> {
  /** The system property that says where to unpack the embedded server. */
  private static final String CACHE = "holdfast.cache";

  @Mixin final CommonOptions common = new CommonOptions();

  @Mixin final WorkerChoice choice = new WorkerChoice();

  @Option(names = "--port", paramLabel = "PORT", description = "port of the embedded PostgreSQL")
  @Nullable Integer port;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description = "port of the HTTP API; 0 is any free port")
  @Nullable Integer httpPort;

  @Option(
      names = "--with",
      paramLabel = "COMMAND",
      description = {
        "also run this shell command, such as a Python worker;",
        "HOLDFAST_SERVER_URL names the server; may be repeated"
      })
  List<String> with = List.of();

  @Option(
      names = "--rehearse",
      hidden = true,
      description = "also run one job in this process, to fill the cache of classes")
  boolean rehearse;

  @Override
  public Integer call() throws InterruptedException {
    Signals signals = Signals.install();
    Settings settings =
        choice.over(common).with("database.port", port).with("server.port", httpPort).settings();
    settings.checkWorker();
    Supervision.check(settings);
    Ports.check(settings.server(), "--http-port");
    if (settings.isGiven("database.url")) {
      DatabaseUrl url = Access.locate(settings);
      run(settings, url, List.of("database  " + url.shown()), signals);
    } else {
      try (EmbeddedPostgres postgres = embedded(settings)) {
        DatabaseUrl url = new DatabaseUrl(postgres.jdbcUrl(), postgres.user(), postgres.password());
        run(settings, url, about(postgres, url), signals);
      }
    }
    Terminal.println("stopped");
    return ExitCode.OK;
  }

  static EmbeddedPostgres embedded(Settings settings) {
    Path folder = settings.get("folder", Path.class);
    if (!Files.exists(folder)) {
      Terminal.println("creating a database in " + folder + " (once, a few seconds) ...");
    }
    // The launcher names a folder beside the program, so that PostgreSQL is unpacked only once.
    String unpacked = System.getProperty(CACHE);
    return EmbeddedPostgres.start(
        EmbeddedPostgres.Options.in(folder)
            .cache(unpacked == null ? null : Path.of(unpacked))
            .port(settings.get("database.port", Integer.class))
            .revive(true));
  }

  private static List<String> about(EmbeddedPostgres postgres, DatabaseUrl url) {
    return List.of(
        "database  %s (embedded PostgreSQL %s in %s)"
            .formatted(url.shown(), postgres.version(), postgres.folder()),
        "psql      PGSERVICEFILE='%s' psql service=holdfast".formatted(postgres.serviceFile()));
  }

  private void run(Settings settings, DatabaseUrl url, List<String> database, Signals signals)
      throws InterruptedException {
    ServerMetrics metrics = new ServerMetrics(settings.metrics().target());
    try (Access access = Access.open(settings, url, metrics)) {
      Migrations.apply(access.dataSource(), access.allowsUnsafe());
      access.retain(settings);
      try (HoldfastServer server =
          HoldfastServer.start(access.holdfast(), settings.server(), metrics)) {
        // Before the workers are started, so that their output comes after it.
        introduce(settings, database, server.url().toString());
        work(settings, access, url, server.url().toString(), metrics, signals);
      }
    }
  }

  private static void introduce(Settings settings, List<String> database, String server) {
    Terminal.println("holdfast " + Version.text());
    database.forEach(line -> Terminal.println("  " + line));
    Terminal.println("  page      " + server);
    Terminal.println("  api       " + server + "/v1");
    Terminal.println("  workers   " + Supervision.describe(settings));
    Terminal.println("  try       ./holdfast enqueue sleep '{\"seconds\": 5}' --watch");
    Terminal.println("            ./holdfast jobs list");
    Terminal.println("            ./holdfast demo");
  }

  private void work(
      Settings settings,
      Access access,
      DatabaseUrl url,
      String server,
      ServerMetrics metrics,
      Signals signals)
      throws InterruptedException {
    try (Supervisor supervisor =
            Supervision.start(
                settings, access, url, List.of(BundledKinds.EXAMPLES), DevCommand::echo);
        DevPrograms programs = new DevPrograms(settings, access, DevCommand::echo)) {
      metrics.send(() -> Supervision.recovered(supervisor));
      SuperviseCommand.awaitHealthy(
          supervisor, signals, settings.get("supervisor.bootTimeout", Duration.class));
      if (rehearse) {
        rehearse(settings, access, signals);
      }
      Terminal.printf(
          "ready in %.1f s%s; Ctrl-C stops everything%n",
          sinceStart().toMillis() / 1000.0, SuperviseCommand.missing(supervisor.standing()));
      programs.start(with, server);
      signals.await();
      Terminal.println("stopping; a second Ctrl-C ends it at once");
    }
  }

  /** Loads the classes that a worker needs, for the cache of the launcher. */
  private static void rehearse(Settings settings, Access access, Signals signals)
      throws InterruptedException {
    try (WorkerProcess worker =
        WorkerProcess.start(
            settings, access, "worker:rehearsal:0", List.of(BundledKinds.EXAMPLES))) {
      JobId job = access.holdfast().enqueue(Job.of("echo")).id();
      while (!signals.await(1)
          && access.holdfast().find(job).filter(it -> !it.state().isTerminal()).isPresent()) {
        // Wait for the job to end.
      }
      Terminal.println("warmed up with " + worker.describe());
    }
  }

  /** Since the start of Java: the launcher may have built the program before, in its process. */
  private static Duration sinceStart() {
    Instant start = Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
    return Duration.between(start, Instant.now());
  }

  private static void echo(String line) {
    Terminal.error(line);
  }
}
