package dev.holdfast.supervisor;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.process.Companion;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.health.WorkerRegistry;
import java.time.Duration;
import java.util.List;

/**
 * The row of one worker in the table of health, as far as its supervisor writes it. Each process
 * writes under its own incarnation, so that a late write of an earlier one matches no row.
 */
final class HealthRow {
  private final WorkerRegistry registry;
  private final String supervisor;
  private final String component;
  private int incarnation;
  private boolean exists;
  private boolean spawnWritten;

  HealthRow(WorkerRegistry registry, String supervisor, String component) {
    this.registry = registry;
    this.supervisor = supervisor;
    this.component = component;
  }

  /** Continues the count of an earlier supervisor of the same name. */
  void follow(int lastIncarnation) {
    incarnation = Math.max(incarnation, lastIncarnation);
  }

  int incarnation() {
    return incarnation;
  }

  /** Before a process is started. */
  void starting(int restarts, int totalRestarts, boolean paused) {
    incarnation++;
    registry.processes().starting(place(), restarts, totalRestarts, paused);
    exists = true;
    spawnWritten = false;
  }

  /** Writes the number of the process, once. */
  void spawned(Companion process) {
    if (!spawnWritten) {
      registry.processes().spawned(place(), process.pid(), process.startedAt());
      spawnWritten = true;
    }
  }

  void stopping(String reason) {
    registry.processes().stopping(place(), reason);
  }

  void paused(boolean paused) {
    registry.processes().paused(supervisor, component, paused);
  }

  void restartsReset() {
    registry.processes().resetRestarts(place());
  }

  /**
   * Writes how a process ended. A worker that was stopped before its first start has no row yet.
   */
  void ended(ProcessEnd end, boolean paused, boolean startsAtOnce) {
    if (!exists) {
      starting(0, 0, paused);
    }
    if (end.isFailure()) {
      // The status 'failed' is only reached from 'crashed'.
      registry.processes().ended(place(), HealthStatus.CRASHED, end.exitCode(), end.reason(), null);
    }
    registry
        .processes()
        .ended(
            place(),
            end.next(),
            end.exitCode(),
            end.reason(),
            startsAtOnce ? Duration.ZERO : end.restartIn());
  }

  /** The row as it is now; empty when there is none. */
  List<WorkerHealth> read() {
    return registry.readings().of(supervisor).stream()
        .filter(row -> row.component().equals(component))
        .toList();
  }

  private WorkerProcesses.Place place() {
    return new WorkerProcesses.Place(supervisor, component, incarnation);
  }
}
