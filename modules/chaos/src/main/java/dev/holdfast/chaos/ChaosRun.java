package dev.holdfast.chaos;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.chaos.check.Checker;
import dev.holdfast.chaos.check.Finding;
import dev.holdfast.chaos.check.Monitor;
import dev.holdfast.chaos.check.Recovery;
import dev.holdfast.chaos.fault.Fault;
import dev.holdfast.chaos.fault.Faults;
import dev.holdfast.chaos.fault.Nemesis;
import dev.holdfast.chaos.fault.Target;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.load.Ledger;
import dev.holdfast.chaos.load.Load;
import dev.holdfast.chaos.load.Records;
import dev.holdfast.queue.schema.Migrations;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/** One run: load and faults together, then a pause in which all jobs end, then the checks. */
public final class ChaosRun {
  private static final int BACKLOG = 400;
  private static final Duration STANDSTILL = Duration.ofMinutes(2);

  private final Options options;
  private final Consumer<String> progress;

  public ChaosRun(Options options, Consumer<String> progress) {
    this.options = options;
    this.progress = progress;
  }

  public Result run() throws Exception {
    // Connections break on purpose, and the pool has a stack trace for each.
    ((Logger) LoggerFactory.getLogger("com.zaxxer.hikari")).setLevel(Level.OFF);
    List<Fault> faults =
        Faults.all().stream()
            .filter(fault -> options.only() == null || options.only().contains(fault.name()))
            .toList();
    progress.accept(
        "seed %d, %d s of faults: %s"
            .formatted(
                options.seed(),
                options.faulty().toSeconds(),
                String.join(", ", faults.stream().map(Fault::name).toList())));
    Path folder = Processes.freshFolder();
    try (Database database = Database.start(folder);
        HikariDataSource pool = database.pool(4);
        Holdfast clients = Holdfast.on(pool);
        Holdfast checks = Holdfast.on(database.direct())) {
      Migrations.apply(database.direct(), false);
      Records.create(database.direct());
      checks.admin().limit(Load.LIMITED, Load.LIMIT);
      checks.admin().rate(Load.RATED, 20, Duration.ofSeconds(1));
      return run(database, clients, checks, faults);
    } finally {
      Processes.delete(folder);
    }
  }

  private Result run(Database database, Holdfast clients, Holdfast checks, List<Fault> faults)
      throws Exception {
    Ledger ledger = new Ledger();
    Recovery recovery = new Recovery(database);
    List<Finding> findings = new ArrayList<>();
    Monitor monitor = new Monitor(database).start();
    try (Fleet fleet = new Fleet(database)) {
      fleet.start();
      Nemesis nemesis =
          new Nemesis(
              Nemesis.schedule(faults, options.seed(), options.faulty()),
              new Target(database, fleet, recovery),
              progress);
      Load load =
          new Load(
                  clients,
                  ledger,
                  options.seed(),
                  options.jobs(),
                  () -> unfinished(database),
                  BACKLOG)
              .start();
      Progress ticker = new Progress(database, ledger, nemesis, progress).start();
      try {
        awaitFirst(database);
        nemesis.run();
      } finally {
        load.stop();
        ticker.stop();
      }
      progress.accept("faults are over; waiting for the last jobs");
      awaitEnd(database);
      findings.add(new Finding("every process ends when it is told to", 6, fleet.stop()));
      findings.add(monitor.stop());
      findings.addAll(new Checker(database, checks, ledger).all());
      Result result =
          Result.of(
              options,
              ledger.size(),
              database.count("SELECT count(*) FROM chaos.ran"),
              database.count("SELECT count(*) FROM chaos.refused"),
              nemesis.happened(),
              recovery.recoveries(),
              recovery.firstStarts(),
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

  private static long unfinished(Database database) {
    try {
      return database.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NULL");
    } catch (SQLException away) {
      throw new IllegalStateException(away);
    }
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
      long now = unfinished(database);
      if (now < left) {
        since = System.nanoTime();
      }
      left = now;
    }
  }
}
