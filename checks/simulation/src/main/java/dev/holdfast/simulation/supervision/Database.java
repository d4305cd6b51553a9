package dev.holdfast.simulation.supervision;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The rows of worker processes, and how they are reached. */
public final class Database {
  private static final Map<Object, Database> OF_RUN = new ConcurrentHashMap<>();

  /** How a call reaches the database. */
  public interface Way {
    <T> T call(String verb, Supplier<T> effect);
  }

  /** Told what the supervisor does. */
  public interface Watch {
    Child started(String component, int incarnation);
  }

  /** A row of the table of health. */
  static final class Row {
    int incarnation;
    HealthStatus status = HealthStatus.STARTING;
    @Nullable Long pid;
    Instant lastSeen = Instant.EPOCH;
    boolean paused;
    int restarts;
    int totalRestarts;
    @Nullable Integer exitCode;
    @Nullable String reason;
  }

  final Map<String, Row> rows = new TreeMap<>();
  final List<dev.holdfast.model.command.WorkerCommand> commands = new ArrayList<>();
  final Set<String> recovered = new HashSet<>();
  private final Map<String, Instant> commandRead = new HashMap<>();
  private final Map<String, Instant> restartRead = new HashMap<>();
  private final Way way;
  private final Watch watch;
  private final Supplier<Instant> now;

  public Database(Way way, Watch watch, Supplier<Instant> now) {
    this.way = way;
    this.watch = watch;
    this.now = now;
  }

  /** Makes it the database of a run. */
  public void use(Object run) {
    OF_RUN.put(run, this);
  }

  public static void forget(Object run) {
    OF_RUN.remove(run);
  }

  static Database current() {
    Object run = dev.holdfast.simulation.kernel.SimulatedProcess.current().scheduler();
    Database found = OF_RUN.get(run);
    if (found == null) {
      throw new IllegalStateException("no database for this run");
    }
    return found;
  }

  Watch watch() {
    return watch;
  }

  Instant now() {
    return now.get();
  }

  <T> T call(String verb, Supplier<T> effect) {
    return way.call(verb, effect);
  }

  void write(String verb, Runnable effect) {
    boolean unused =
        call(
            verb,
            () -> {
              effect.run();
              return true;
            });
  }

  public void command(dev.holdfast.model.command.WorkerCommand command) {
    commands.add(command);
  }

  /** Hands out the commands that are not done. */
  List<dev.holdfast.model.command.WorkerCommand> openCommands() {
    for (dev.holdfast.model.command.WorkerCommand each : commands) {
      commandRead.put(each.component(), now());
      if (each.action() == dev.holdfast.model.command.WorkerCommand.Action.RESTART) {
        restartRead.put(each.component(), now());
      }
    }
    return List.copyOf(commands);
  }

  /** When the supervisor last read a command for a component: not before an outage was over. */
  public Instant commandRead(String component) {
    return commandRead.getOrDefault(component, Instant.MIN);
  }

  /** When it last read a restart: the restarts before it count no longer. */
  public Instant restartRead(String component) {
    return restartRead.getOrDefault(component, Instant.MIN);
  }

  /** A process reports; false when another incarnation has its row. */
  public boolean beat(String component, int incarnation, long pid, HealthStatus status) {
    Row row = rows.get(component);
    if (row == null || row.incarnation != incarnation || !row.status.isAlive()) {
      return false;
    }
    row.lastSeen = now();
    row.pid = pid;
    if (row.status != HealthStatus.STOPPING) {
      row.status = status;
      row.reason = null; // It reports no trouble.
    }
    return true;
  }

  public @Nullable HealthStatus statusOf(String component) {
    Row row = rows.get(component);
    return row == null ? null : row.status;
  }

  public boolean isRecovered(String prefix) {
    return recovered.contains(prefix);
  }

  List<WorkerHealth> read(String supervisor) {
    List<WorkerHealth> all = new ArrayList<>();
    rows.forEach(
        (component, row) ->
            all.add(
                new WorkerHealth(
                    supervisor,
                    component,
                    row.incarnation,
                    row.status,
                    row.pid,
                    row.pid == null ? null : Instant.EPOCH,
                    row.lastSeen,
                    Duration.between(row.lastSeen, now()),
                    null,
                    null,
                    row.paused,
                    row.restarts,
                    row.totalRestarts,
                    null,
                    null,
                    row.exitCode,
                    row.reason,
                    Json.EMPTY,
                    Instant.EPOCH)));
    return all;
  }
}
