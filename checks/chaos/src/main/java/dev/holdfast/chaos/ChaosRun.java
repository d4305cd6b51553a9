package dev.holdfast.chaos;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.chaos.check.Checker;
import dev.holdfast.chaos.check.Finding;
import dev.holdfast.chaos.check.LiveReader;
import dev.holdfast.chaos.check.Monitor;
import dev.holdfast.chaos.check.Recovery;
import dev.holdfast.chaos.check.Refused;
import dev.holdfast.chaos.check.Sightings;
import dev.holdfast.chaos.cluster.Failovers;
import dev.holdfast.chaos.cluster.PatroniCluster;
import dev.holdfast.chaos.cluster.Probe;
import dev.holdfast.chaos.fault.Disruption;
import dev.holdfast.chaos.fault.Fault;
import dev.holdfast.chaos.fault.Faults;
import dev.holdfast.chaos.fault.Need;
import dev.holdfast.chaos.fault.Nemesis;
import dev.holdfast.chaos.fault.Target;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.MemoryGroup;
import dev.holdfast.chaos.fleet.SingleServer;
import dev.holdfast.chaos.fleet.Watchdog;
import dev.holdfast.chaos.load.Ledger;
import dev.holdfast.chaos.load.Load;
import dev.holdfast.chaos.load.Records;
import dev.holdfast.chaos.load.WorkspaceJobs;
import dev.holdfast.chaos.soak.Soak;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** One run: load and faults together, then a pause in which all jobs end, then the checks. */
public final class ChaosRun {
  /** What has not ended, by the indexes of the claims: it is asked all the time. */
  private static final String WAITING =
      """
      SELECT sum(jobs) FROM (
        SELECT count(*) AS jobs FROM holdfast.job
          WHERE state = 'PENDING' AND concurrency_key IS NULL AND NOT isolated
        UNION ALL SELECT count(*) FROM holdfast.job
          WHERE state = 'PENDING' AND concurrency_key IS NOT NULL
        UNION ALL SELECT count(*) FROM holdfast.job WHERE state = 'RUNNING'
        UNION ALL SELECT count(*) FROM holdfast.job WHERE state = 'RETRYING'
        UNION ALL SELECT count(*) FROM holdfast.job WHERE state = 'WAITING') AS each
      """;

  private static final int BACKLOG = 800;
  private static final Duration STANDSTILL = Duration.ofMinutes(2);

  /** Kinds that are not ours wait for minutes after many failures. */
  private static final String RETRY_NOW =
      "WITH due AS (UPDATE holdfast.job SET run_at = now() WHERE state = 'RETRYING'"
          + " AND run_at > now() + interval '5 seconds' RETURNING 1) SELECT count(*) FROM due";

  private final Options options;
  private final Consumer<String> progress;
  private final Watchdog watchdog = Watchdog.start();
  private final Deque<AutoCloseable> open = new ConcurrentLinkedDeque<>();
  private volatile boolean interrupted;

  public ChaosRun(Options options, Consumer<String> progress) {
    this.options = options;
    this.progress = progress;
  }

  public Result run() throws Exception {
    // Connections break on purpose, and the pool has a stack trace for each.
    ((Logger) LoggerFactory.getLogger("com.zaxxer.hikari")).setLevel(Level.OFF);
    Path folder = Processes.freshFolder();
    open.push(watchdog);
    open.push(() -> Processes.delete(folder));
    watchdog.watch(folder);
    Thread hook = new Thread(this::closeAll, "chaos-interrupted");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      if (options.failovers() > 0) {
        return onCluster(folder);
      }
      return options.soak() ? soak(folder) : onSingleServer(folder);
    } finally {
      if (!interrupted) {
        Runtime.getRuntime().removeShutdownHook(hook);
        closeAll();
      }
    }
  }

  /** The last one first; also when the run is interrupted. */
  private synchronized void closeAll() {
    interrupted = true;
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception | Error e) {
        progress.accept("not cleaned up: " + e);
      }
    }
  }

  private Result onSingleServer(Path folder) throws Exception {
    List<Fault> faults = faults();
    progress.accept(
        "seed %d, %d s of faults: %s"
            .formatted(
                options.seed(),
                options.faulty().toSeconds(),
                String.join(", ", faults.stream().map(Fault::name).distinct().toList())));
    boolean volumes = faults.stream().anyMatch(fault -> fault.need() == Need.VOLUMES);
    SingleServer server = new SingleServer(folder, volumes);
    open.push(server);
    MemoryGroup memory =
        faults.stream().anyMatch(fault -> fault.need() == Need.MEMORY_GROUP)
            ? MemoryGroup.create()
            : null;
    if (memory != null) {
      open.push(memory);
      watchdog.watch(memory.folder());
    }
    try (Database database = new Database(server)) {
      Recovery recovery = new Recovery(database);
      return run(
          folder,
          database,
          recovery,
          volumes,
          (fleet, load, clients, ledger) ->
              new Nemesis(
                  Nemesis.schedule(faults, options.seed(), options.faulty(), options.perMinute()),
                  new Target(server, database, fleet, recovery, load, memory),
                  progress));
    }
  }

  private Result soak(Path folder) throws Exception {
    progress.accept("%d s without faults".formatted(options.faulty().toSeconds()));
    SingleServer server = new SingleServer(folder);
    open.push(server);
    try (Database database = new Database(server)) {
      return run(
          folder,
          database,
          new Recovery(database),
          false,
          (fleet, load, clients, ledger) -> new Soak(database, fleet, options.faulty(), progress));
    }
  }

  /** Those that were asked for and that this machine can have. */
  private List<Fault> faults() {
    List<String> only = options.only();
    List<Fault> wanted =
        Faults.all().stream()
            .flatMap(
                fault ->
                    Collections.nCopies(
                        only == null ? 1 : Collections.frequency(only, fault.name()), fault)
                        .stream())
            .toList();
    Set<Need> met = EnumSet.allOf(Need.class);
    met.removeIf(need -> wanted.stream().anyMatch(fault -> fault.need() == need) && !need.isMet());
    wanted.stream()
        .distinct()
        .filter(fault -> !met.contains(fault.need()))
        .forEach(
            fault ->
                progress.accept(
                    "left out: %s, which needs %s".formatted(fault.name(), fault.need().text())));
    return wanted.stream().filter(fault -> met.contains(fault.need())).toList();
  }

  private Result onCluster(Path folder) throws Exception {
    progress.accept("starting two PostgreSQL under Patroni and etcd");
    PatroniCluster cluster = PatroniCluster.start(folder, open::push);
    try (Database database = new Database(cluster)) {
      return run(
          folder,
          database,
          new Recovery(database),
          false,
          (fleet, load, clients, ledger) ->
              new Failovers(
                  cluster,
                  database,
                  fleet,
                  new Probe(clients, ledger),
                  options.failovers(),
                  progress));
    }
  }

  /** What breaks things once the processes run. */
  private interface Breaking {
    Disruption on(Fleet fleet, Load load, Holdfast clients, Ledger ledger);
  }

  private Result run(
      Path folder, Database database, Recovery recovery, boolean volumes, Breaking breaking)
      throws Exception {
    try (HikariDataSource pool = database.pool(4);
        Holdfast clients = Holdfast.on(pool);
        Holdfast checks = Holdfast.on(database.direct())) {
      Migrations.apply(database.direct(), false);
      Records.create(database.direct());
      checks.admin().limit(Load.LIMITED, Load.LIMIT);
      checks.admin().rate(Load.RATED, 20, Duration.ofSeconds(1));
      checks.admin().schedule(Load.schedule());
      Records.schedule(database.direct());
      WorkspaceJobs workspaces = WorkspaceJobs.in(folder).orElse(null);
      if (workspaces == null) {
        progress.accept("left out: workspaces, which need git");
      } else {
        Records.workspaces(database.direct(), workspaces);
      }
      return run(database, clients, checks, recovery, volumes, workspaces, breaking);
    }
  }

  private Result run(
      Database database,
      Holdfast clients,
      Holdfast checks,
      Recovery recovery,
      boolean volumes,
      @Nullable WorkspaceJobs workspaces,
      Breaking breaking)
      throws Exception {
    Ledger ledger = new Ledger();
    List<Finding> findings = new ArrayList<>();
    Monitor monitor = new Monitor(database).start();
    Sightings sightings = new Sightings(database).start();
    try (Fleet fleet = new Fleet(database, volumes, workspaces)) {
      open.push(fleet);
      watchdog.watch(fleet.folder());
      fleet.start();
      LiveReader live = new LiveReader(fleet.httpPort()).start();
      Load load =
          new Load(
              clients,
              ledger,
              options.seed(),
              options.jobs(),
              options.jobsPerSecond(),
              () -> waiting(database),
              BACKLOG,
              workspaces);
      Disruption disruption = breaking.on(fleet, load, clients, ledger);
      load.start();
      Progress ticker = new Progress(database, ledger, disruption::happened, progress).start();
      try {
        awaitFirst(database);
        disruption.run();
      } finally {
        load.stop();
        ticker.stop();
      }
      progress.accept("faults are over; waiting for the last jobs");
      checks.admin().pauseSchedule(Load.TICK);
      awaitEnd(database);
      load.stopAnswering();
      findings.add(live.stop(database));
      findings.addAll(disruption.findings());
      findings.add(
          new Finding("every process ends when it is told to, and leaves none", 6, fleet.stop()));
      findings.add(monitor.stop());
      findings.add(sightings.stop());
      findings.addAll(new Checker(database, checks, ledger, fleet.lines()).all());
      Result result =
          Result.of(
              options,
              ledger.size(),
              database.count("SELECT count(*) FROM chaos.ran"),
              Refused.of(database, fleet.lines()),
              disruption.happened(),
              recovery.requeued(),
              recovery.startedAgain(),
              recovery.firstStarts(),
              disruption instanceof Failovers failovers ? failovers.failovers() : List.of(),
              findings);
      if (!result.succeeded()) {
        fleet.printOutput();
      }
      result.print(progress);
      if (options.json() != null) {
        result.write(options.json());
      }
      return result;
    }
  }

  private static long waiting(Database database) {
    try {
      return database.count(WAITING);
    } catch (SQLException away) {
      throw new IllegalStateException(away);
    }
  }

  private static long unfinished(Database database) throws SQLException {
    return database.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NULL");
  }

  /** Faults that hit processes which are still starting would show little. */
  private void awaitFirst(Database database) throws Exception {
    while (database.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NOT NULL") < 50) {
      Thread.sleep(100);
    }
  }

  /** However slow the machine is, as long as one more job ends now and then. */
  private void awaitEnd(Database database) throws Exception {
    long left = unfinished(database);
    long since = System.nanoTime();
    while (left > 0 && System.nanoTime() - since < STANDSTILL.toNanos()) {
      Thread.sleep(200);
      long unused = database.count(RETRY_NOW);
      long now = unfinished(database);
      if (now < left) {
        since = System.nanoTime();
      }
      left = now;
    }
  }
}
