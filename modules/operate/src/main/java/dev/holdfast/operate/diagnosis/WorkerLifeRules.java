package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A worker process does not start, hangs, crashes again and again, or has failed. */
final class WorkerLifeRules {
  private static final Duration STARTED_WITHIN = Duration.ofSeconds(30);
  private static final int CRASH_LOOP = 2;

  private WorkerLifeRules() {}

  static List<Finding> check(WorkerHealth row) {
    Finding found = find(row);
    return found == null ? List.of() : List.of(found);
  }

  private static @Nullable Finding find(WorkerHealth row) {
    boolean restartedOften = row.restarts() >= CRASH_LOOP;
    return switch (row.status()) {
      case STARTING ->
          restartedOften && row.isStartedAfterCrash()
              ? crashLoop(row)
              : row.age().compareTo(STARTED_WITHIN) > 0 ? starting() : null;
      case HEALTHY -> row.isSilent() ? Finding.of(ProblemCode.WORKER_SILENT) : null;
      case CRASHED -> restartedOften ? crashLoop(row) : null;
      case FAILED ->
          Finding.of(ProblemCode.WORKER_FAILED).with(Finding.EXIT_CODE, exitCodeOfReason(row));
      case STOPPING -> null;
    };
  }

  private static Finding starting() {
    return Finding.of(ProblemCode.WORKER_STARTING)
        .with(Finding.SECONDS, STARTED_WITHIN.toSeconds());
  }

  private static Finding crashLoop(WorkerHealth row) {
    return Finding.of(ProblemCode.WORKER_CRASH_LOOP)
        .with(Finding.RESTARTS, row.restarts())
        .with(Finding.NEXT_RESTART, row.nextRestart())
        .with(Finding.EXIT_CODE, exitCodeOfReason(row));
  }

  /** A process that its supervisor killed has the exit code of that, which explains nothing. */
  private static @Nullable Integer exitCodeOfReason(WorkerHealth row) {
    Integer exit = row.exitCode();
    String reason = row.reason();
    return exit != null && reason != null && reason.contains(WorkerExit.of(exit).shown())
        ? exit
        : null;
  }

  /** A healthy process that reports a problem has a handler that does not stop. */
  static List<Finding> overdueHandler(WorkerHealth row) {
    if (row.status() != HealthStatus.HEALTHY || row.reason() == null || row.isSilent()) {
      return List.of();
    }
    return List.of(Finding.of(ProblemCode.HANDLER_OVERDUE));
  }
}
