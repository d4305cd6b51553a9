package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Plural;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A worker process does not start, hangs, crashes again and again, or has failed. */
final class WorkerLifeRules {
  private static final Duration STARTED_WITHIN = Duration.ofSeconds(30);
  private static final int CRASH_LOOP = 2;

  private WorkerLifeRules() {}

  static List<Finding> check(Situation situation, WorkerHealth row) {
    Finding found = find(row, situation.nameOf(row));
    return found == null ? List.of() : List.of(found);
  }

  private static @Nullable Finding find(WorkerHealth row, String name) {
    boolean restartedOften = row.restarts() >= CRASH_LOOP;
    return switch (row.status()) {
      case STARTING ->
          restartedOften && row.isStartedAfterCrash()
              ? crashLoop(row, name)
              : row.age().compareTo(STARTED_WITHIN) > 0 ? starting(row, name) : null;
      case HEALTHY -> row.isSilent() ? silent(row, name) : null;
      case CRASHED -> restartedOften ? crashLoop(row, name) : null;
      case FAILED -> failed(row, name);
      case STOPPING -> null;
    };
  }

  private static Finding starting(WorkerHealth row, String name) {
    String log = WorkerAdvice.log(row);
    return Finding.of(
        "worker_starting",
        "%s has been starting for more than %d seconds".formatted(name, STARTED_WITHIN.toSeconds()),
        "see what it waits for with %s: its handlers, or the database; %s restarts it"
            .formatted(log, WorkerAdvice.command(row, "restart")),
        "see what it waits for with %s on its machine; %s restarts it"
            .formatted(log, WorkerAdvice.request(row, "restart")));
  }

  private static Finding silent(WorkerHealth row, String name) {
    String log = WorkerAdvice.log(row);
    return Finding.of(
        "worker_silent",
        name + " has stopped reporting",
        "its supervisor will restart it; see " + log,
        "its supervisor will restart it; see " + log + " on its machine");
  }

  private static Finding crashLoop(WorkerHealth row, String name) {
    String next =
        row.nextRestart() == null
            ? "is starting"
            : "will be restarted at " + Moments.text(row.nextRestart());
    String log = WorkerAdvice.log(row);
    String exitCode = WorkerAdvice.ofExitCode(row);
    return Finding.of(
            "worker_crash_loop",
            "%s keeps crashing: %s; it was restarted %s and %s"
                .formatted(name, WorkerAdvice.reason(row), Plural.of(row.restarts(), "time"), next),
            "see %s%s; %s stops it while you fix the cause"
                .formatted(log, exitCode, WorkerAdvice.command(row, "stop")),
            "see %s on its machine%s; %s stops it while you fix the cause"
                .formatted(log, exitCode, WorkerAdvice.request(row, "stop")))
        .with("restarts", row.restarts())
        .with("nextRestart", row.nextRestart());
  }

  private static Finding failed(WorkerHealth row, String name) {
    String log = WorkerAdvice.log(row);
    String exitCode = WorkerAdvice.ofExitCode(row);
    return Finding.of(
        "worker_failed",
        name + " has failed and is not restarted any more: " + WorkerAdvice.reason(row),
        "see its log with %s%s, fix the cause, then %s"
            .formatted(log, exitCode, WorkerAdvice.command(row, "resume")),
        "see its log with %s on its machine%s, fix the cause, then %s"
            .formatted(log, exitCode, WorkerAdvice.request(row, "resume")));
  }

  /** A healthy process that reports a problem has a handler that does not stop. */
  static List<Finding> overdueHandler(Situation situation, WorkerHealth row) {
    if (row.status() != HealthStatus.HEALTHY || row.reason() == null || row.isSilent()) {
      return List.of();
    }
    String name = situation.nameOf(row);
    String advice =
        "its process is restarted before long, or at once with %s; let the handler check"
            + " context.isCancelled()";
    return List.of(
        new Finding(
            "handler_overdue",
            name + " has a handler that still runs after its attempt has ended",
            name + " is healthy, but " + row.reason(),
            advice.formatted(WorkerAdvice.command(row, "restart")),
            advice.formatted(WorkerAdvice.request(row, "restart"))));
  }
}
