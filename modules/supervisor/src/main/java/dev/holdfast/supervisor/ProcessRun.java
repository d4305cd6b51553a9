package dev.holdfast.supervisor;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Plural;
import dev.holdfast.process.Companion;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One process of a worker, from its start to its exit. */
final class ProcessRun {
  private static final Logger log = LoggerFactory.getLogger(ProcessRun.class);

  private final String component;
  private final SupervisorOptions options;
  private final HealthRow row;
  private final WorkerLog output;
  private final Companion process;
  private final Liveness liveness;
  private @Nullable StopEscalation stop;
  private boolean stopWritten;

  /** Why it was stopped or killed. */
  private @Nullable String why;

  private ProcessRun(
      String component,
      SupervisorOptions options,
      HealthRow row,
      WorkerLog output,
      Companion process,
      long now) {
    this.component = component;
    this.options = options;
    this.row = row;
    this.output = output;
    this.process = process;
    this.liveness = new Liveness(options, now);
  }

  static ProcessRun start(
      WorkerCommandLine command,
      SupervisorOptions options,
      HealthRow row,
      WorkerLog output,
      boolean paused,
      long now)
      throws IOException {
    Companion process =
        Companion.start(
            command.argumentsOf(options.name(), row.incarnation(), paused),
            options.folder(),
            command.environment(),
            WorkerLog.LONGEST_LINE,
            (line, cut) -> output.line(line));
    output.line("--- process " + process.pid() + " of " + command.component());
    log.info("{} started, pid {}", command.component(), process.pid());
    return new ProcessRun(command.component(), options, row, output, process, now);
  }

  void whenEnded(Runnable action) {
    process.whenEnded(action);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  boolean isHealthy() {
    return stop == null && liveness.status() == HealthStatus.HEALTHY;
  }

  boolean isStarting() {
    return stop == null && liveness.status() == HealthStatus.STARTING;
  }

  boolean isStopping() {
    return stop != null;
  }

  void pause(boolean now) {
    process.send(now ? "pause" : "resume");
  }

  void stop(String reason, long now) {
    why = reason;
    if (stop == null) {
      stop = StopEscalation.begin(component, options, process, now);
    }
  }

  void kill() {
    process.kill();
  }

  void onReport(WorkerHealth report, long now) {
    if (report.incarnation() == row.incarnation()
        && report.status().isAlive()
        && liveness.onReport(report, now)) {
      log.info("{} is healthy, pid {}", component, report.pid());
    }
  }

  /** The database was unavailable. */
  void couldNotBeHeard(long now) {
    liveness.couldNotBeHeard(now);
  }

  /** One turn while the process is alive. */
  void turn(long now, Restarts restarts) {
    if (stop != null) {
      awaitStop(stop, now);
      return;
    }
    row.spawned(process);
    if (why != null) {
      return; // It was killed and has not ended yet.
    }
    switch (liveness.check(now)) {
      case Liveness.Verdict.Kill(String reason) -> {
        log.warn("{} (pid {}) is killed: {}", component, pid(), reason);
        why = reason;
        process.kill();
      }
      case Liveness.Verdict.Recycle(String problem) -> {
        log.warn("{} (pid {}) is restarted: {}", component, pid(), problem);
        stop("restarted: " + problem, now);
      }
      case Liveness.Verdict.Alive() -> {
        if (isHealthy() && restarts.resetIfHealthy(liveness.healthyFor(now))) {
          log.info(
              "{} has been healthy for long enough: its backoff starts anew ({} in total)",
              component,
              Plural.of(restarts.total(), "restart"));
          row.restartsReset();
        }
      }
    }
  }

  private void awaitStop(StopEscalation escalation, long now) {
    // The row is written only when no signal was due: signals are sent without a database, too.
    if (!escalation.escalate(now) && !stopWritten) {
      row.spawned(process);
      row.stopping(why == null ? "stopped" : why);
      stopWritten = true;
    }
  }

  /** How it ended, once it is no longer alive. */
  ProcessEnd end(long now, Restarts restarts) {
    // One that ended at once was never seen alive, and its exit is stored with its pid.
    row.spawned(process);
    if (stop == null) {
      // Its last report says whether it was asked to stop.
      row.read().forEach(report -> onReport(report, now));
    }
    process.finish();
    int exit = process.exitCode();
    if (stop != null) {
      output.line("--- ended: " + WorkerExit.of(exit).shown());
      return ProcessEnd.stopped(pid(), exit, why == null ? "stopped" : why);
    }
    if (liveness.status() == HealthStatus.STOPPING && exit == WorkerExit.CLEAN) {
      return ProcessEnd.stopped(pid(), exit, "it got SIGTERM, not from its supervisor");
    }
    String reason =
        why != null
            ? why
            : "exit " + WorkerExit.of(exit).shown() + ": " + WorkerExit.of(exit).meaning();
    output.line("--- crashed: " + reason);
    return ProcessEnd.crashed(pid(), exit, reason, restarts.afterCrash(now));
  }
}
