package dev.holdfast.simulation.supervision;

import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.recover.ReapResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Stands for {@code WorkerRegistry}; the classes in it stand for those of the same name in its
 * package.
 */
public final class Registry {
  public WorkerProcesses processes() {
    return new WorkerProcesses();
  }

  public Supervisors supervisors() {
    return new Supervisors();
  }

  public WorkerReadings readings() {
    return new WorkerReadings();
  }

  public WorkerCommands commands() {
    return new WorkerCommands();
  }

  public ProcessRecovery recovery() {
    return new ProcessRecovery();
  }

  public WorkerLogs logs() {
    return new WorkerLogs();
  }

  public static final class WorkerProcesses {
    public record Place(String supervisor, String component, int incarnation) {}

    private static Database.@Nullable Row at(Place place) {
      Database.Row row = Database.current().rows.get(place.component());
      return row == null || row.incarnation != place.incarnation() ? null : row;
    }

    public void starting(Place place, int restarts, int totalRestarts, boolean paused) {
      Database database = Database.current();
      database.write(
          "starting",
          () -> {
            Database.Row row =
                database.rows.computeIfAbsent(place.component(), each -> new Database.Row());
            row.incarnation = place.incarnation();
            row.status = HealthStatus.STARTING;
            row.pid = null;
            row.lastSeen = database.now();
            row.paused = paused;
            row.restarts = restarts;
            row.totalRestarts = totalRestarts;
          });
    }

    public void spawned(Place place, long pid, @Nullable Instant startedAt) {
      write("spawned", place, row -> row.pid = pid);
    }

    public void stopping(Place place, String reason) {
      write(
          "stopping",
          place,
          row -> {
            row.status = row.status.isAlive() ? HealthStatus.STOPPING : row.status;
            row.reason = reason;
          });
    }

    public void ended(
        Place place,
        HealthStatus next,
        @Nullable Integer exitCode,
        String reason,
        @Nullable Duration restartIn) {
      write(
          "ended",
          place,
          row -> {
            row.status = next;
            row.pid = null;
            row.exitCode = exitCode;
            row.reason = reason;
          });
    }

    public void resetRestarts(Place place) {
      write("forgiven", place, row -> row.restarts = 0);
    }

    public void paused(String supervisor, String component, boolean paused) {
      Database database = Database.current();
      database.write(
          "paused",
          () -> {
            Database.Row row = database.rows.get(component);
            if (row != null) {
              row.paused = paused;
            }
          });
    }

    public void clear(String supervisor) {
      Database database = Database.current();
      database.write("clear", database.rows::clear);
    }

    private static void write(
        String verb, Place place, java.util.function.Consumer<Database.Row> effect) {
      Database.current()
          .write(
              verb,
              () -> {
                Database.Row row = at(place);
                if (row != null) {
                  effect.accept(row);
                }
              });
    }
  }

  /** The name is free. */
  public static final class Supervisors {
    public record Supervising(String name, String host, long pid, Instant processStartedAt) {}

    public record Known(Supervising supervising, Duration silentFor) {}

    public Optional<Known> find(String name) {
      return Database.current().call("find", Optional::empty);
    }

    public boolean appear(Supervising self) {
      return Database.current().call("appear", () -> true);
    }

    public boolean replace(Supervising gone, Supervising self) {
      return Database.current().call("replace", () -> true);
    }

    public boolean watching(Supervising self) {
      return Database.current().call("watching", () -> true);
    }

    public void leave(Supervising self) {
      Database.current().write("leave", () -> {});
    }
  }

  public static final class WorkerReadings {
    public List<WorkerHealth> of(String supervisor) {
      Database database = Database.current();
      return database.call("read", () -> database.read(supervisor));
    }
  }

  public static final class WorkerCommands {
    public List<WorkerCommand> open(String supervisor) {
      Database database = Database.current();
      return database.call("open", database::openCommands);
    }

    public void done(WorkerCommand command) {
      Database database = Database.current();
      database.write("done", () -> database.commands.remove(command));
    }

    public List<WorkerCommand> inForce(String supervisor) {
      return List.of();
    }
  }

  public static final class ProcessRecovery {
    public ReapResult recover(String supervisor, String namePrefix, String why) {
      Database database = Database.current();
      return database.call(
          "recover",
          () -> {
            database.recovered.add(namePrefix);
            return new ReapResult(List.of(), List.of(), Set.of());
          });
    }
  }

  public static final class WorkerLogs {
    public record Name(String supervisor, String component) {}

    public void write(Name worker, List<LogPiece> pieces) {
      Database.current().write("logs", () -> {});
    }

    public Map<String, Integer> last(String supervisor) {
      return Map.of();
    }
  }
}
