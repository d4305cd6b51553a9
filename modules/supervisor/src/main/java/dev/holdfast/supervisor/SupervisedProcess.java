package dev.holdfast.supervisor;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.health.WorkerRegistry;
import java.io.IOException;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One worker, {@code worker:{queue}:{n}}, and its process. Used by one thread. A turn that fails
 * because the database is unavailable is repeated; it continues from what was written before.
 */
final class SupervisedProcess implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SupervisedProcess.class);

  private enum Phase {
    /** A process is started at {@code dueAt}. */
    DUE,
    /** A process was started. */
    UP,
    /** The process has ended; that has not been written to the database yet. */
    ENDED,
    /** There is no process until a command starts one. */
    OFF
  }

  private final JobRecovery recovery;
  private final SupervisorOptions options;
  private final WorkerCommandLine command;
  private final WorkerLog output;
  private final LongSupplier nanos;
  private final Runnable wake;
  private final HealthRow row;
  private final Restarts restarts;

  private Phase phase = Phase.DUE;
  private long dueAt;
  private boolean countsAsRestart;
  private boolean wanted = true;
  private boolean paused;
  private @Nullable ProcessRun run;
  private @Nullable ProcessEnd end;

  SupervisedProcess(
      WorkerRegistry registry,
      JobRecovery recovery,
      SupervisorOptions options,
      WorkerCommandLine command,
      WorkerLog output,
      LongSupplier nanos,
      Runnable wake) {
    this.recovery = recovery;
    this.options = options;
    this.command = command;
    this.output = output;
    this.nanos = nanos;
    this.wake = wake;
    this.row = new HealthRow(registry, options.name(), command.component());
    this.restarts = new Restarts(options.restarts());
    this.dueAt = nanos.getAsLong();
  }

  String component() {
    return command.component();
  }

  /** Continues the count of an earlier supervisor of the same name. */
  void follow(int lastIncarnation) {
    row.follow(lastIncarnation);
  }

  WorkerLogTail log() {
    return output.tail();
  }

  boolean isHealthy() {
    return run != null && run.isHealthy();
  }

  boolean isStarting() {
    return run != null && run.isStarting();
  }

  /** Whether it was told to stop, has no process and gets none. */
  boolean isStopped() {
    return phase == Phase.OFF && !wanted;
  }

  /** Whether nothing is left to be written. */
  boolean isOff() {
    return phase == Phase.OFF;
  }

  boolean hasProcess() {
    return run != null && run.isAlive();
  }

  boolean hasProcess(long pid) {
    return run != null && run.pid() == pid;
  }

  // ---- commands

  /** A command that was carried out by an earlier supervisor and still holds. */
  void begin(WorkerCommand.Action action) {
    if (action == WorkerCommand.Action.PAUSE) {
      paused = true;
    } else if (action == WorkerCommand.Action.STOP) {
      wanted = false;
      ended(ProcessEnd.stopped(null, null, "stopped by an operator"));
    }
  }

  void obey(WorkerCommand request) {
    log.info(
        "{}: {} by {} ({})",
        component(),
        request.action().text(),
        request.requestedBy(),
        request.reason());
    String by = "by " + request.requestedBy() + ": " + request.reason();
    switch (request.action()) {
      case PAUSE -> pause(true);
      case RESUME -> {
        pause(false);
        start();
      }
      case RESTART -> {
        wanted = true;
        restarts.reset();
        if (run == null) {
          start();
        } else if (!run.isStopping()) {
          run.stop("restarted " + by, nanos.getAsLong());
        }
      }
      case STOP -> {
        wanted = false;
        stop("stopped " + by);
      }
    }
  }

  private void pause(boolean now) {
    if (paused != now) {
      row.paused(now);
      paused = now;
      if (run != null) {
        run.pause(now);
      }
    }
  }

  /** Does not shorten the delay of a restart that is already due. */
  private void start() {
    wanted = true;
    if (phase == Phase.OFF) {
      startAtOnce();
    }
  }

  private void startAtOnce() {
    phase = Phase.DUE;
    countsAsRestart = false;
    dueAt = nanos.getAsLong();
  }

  private void stop(String reason) {
    if (run != null) {
      run.stop(reason, nanos.getAsLong());
    } else if (phase != Phase.ENDED) {
      ended(ProcessEnd.stopped(null, null, reason));
    }
  }

  /** Stops the process and starts no other: the supervisor stops. */
  void shutDown() {
    wanted = false;
    if (run != null && !run.isStopping()) {
      run.stop("its supervisor was stopped", nanos.getAsLong());
    } else if (phase == Phase.DUE) {
      phase = Phase.OFF;
    }
  }

  // ---- reports

  void onReport(WorkerHealth report) {
    if (run != null) {
      run.onReport(report, nanos.getAsLong());
    }
  }

  /** The database was unavailable. */
  void couldNotBeHeard() {
    if (run != null) {
      run.couldNotBeHeard(nanos.getAsLong());
    }
  }

  // ---- one turn

  void turn() {
    long now = nanos.getAsLong();
    switch (phase) {
      case DUE -> {
        if (now - dueAt >= 0) {
          spawn();
        }
      }
      case UP -> watch(now);
      case ENDED -> recordEnd();
      case OFF -> {
        // Only a command changes that.
      }
    }
  }

  private void spawn() {
    int more = countsAsRestart ? 1 : 0;
    row.starting(restarts.count() + more, restarts.total() + more, paused);
    // The database may have been unavailable until now.
    long now = nanos.getAsLong();
    if (countsAsRestart) {
      restarts.restarted(now);
    }
    countsAsRestart = true;
    try {
      ProcessRun started = ProcessRun.start(command, options, row, output, paused, now);
      run = started;
      phase = Phase.UP;
      started.whenEnded(wake);
    } catch (IOException cannot) {
      log.error("{} cannot be started: {}", component(), cannot.getMessage());
      String reason = "its process could not be started: " + cannot.getMessage();
      ended(ProcessEnd.crashed(null, null, reason, restarts.afterCrash(now)));
      recordEnd();
    }
  }

  private void watch(long now) {
    ProcessRun watched = Objects.requireNonNull(run);
    if (watched.isAlive()) {
      watched.turn(now, restarts);
      return;
    }
    ProcessEnd how = watched.end(now, restarts);
    if (how.wasAskedFor() && !watched.isStopping()) {
      wanted = false; // Somebody sent SIGTERM to the process itself; it is not started again.
    }
    ended(how);
    recordEnd();
  }

  private void ended(ProcessEnd how) {
    end = how;
    run = null;
    phase = Phase.ENDED;
  }

  /** Requeues the jobs before the row is written: a reader of 'crashed' finds the jobs requeued. */
  private void recordEnd() {
    ProcessEnd how = Objects.requireNonNull(end);
    if (how.pid() != null) {
      recovery.requeue(component(), how.pid(), how.reason());
    }
    boolean startsAtOnce = wanted && how.wasAskedFor();
    // Before the row says when the next start is: a reader of it must not be too early.
    long now = nanos.getAsLong();
    row.ended(how, paused, startsAtOnce);
    end = null;
    if (!wanted) {
      phase = Phase.OFF;
      log.info("{} is stopped: {}", component(), how.reason());
    } else if (how.restartIn() != null) {
      phase = Phase.DUE;
      dueAt = now + how.restartIn().toNanos();
      log.warn(
          "{} crashed ({}); restart in {}",
          component(),
          how.reason(),
          Liveness.shown(how.restartIn()));
    } else if (startsAtOnce) {
      startAtOnce();
    } else {
      phase = Phase.OFF;
      log.error(
          "{} has failed ({}); fix the cause, then: holdfast workers resume {}",
          component(),
          how.reason(),
          component());
    }
  }

  @Override
  public void close() {
    if (run != null) {
      run.kill();
    }
    output.close();
  }
}
