package dev.holdfast.app.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Signals;
import dev.holdfast.app.cli.Version;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.config.SupervisorConfig;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.health.WorkerProcesses;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects a worker process with its supervisor: writes health reports to the database, obeys the
 * commands on standard input, and ends the process when standard input ends, because the supervisor
 * has then ended.
 */
final class UnderSupervision implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(UnderSupervision.class);

  /** After the time its jobs may take; a process that has not ended by then hangs. */
  private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(5);

  private final Signals signals;
  private final WorkerProcesses.Place place;
  private final Duration interval;
  private final Duration healthTimeout;
  private final Duration stopTimeout;
  private final long pid = ProcessHandle.current().pid();
  private final Object lock = new Object();
  private boolean paused;
  private boolean closed;
  private volatile HealthStatus status = HealthStatus.STARTING;
  private volatile @Nullable WorkerProcess worker;
  private volatile @Nullable WorkerProcesses health;

  private UnderSupervision(
      Signals signals, WorkerProcesses.Place place, boolean paused, Settings settings) {
    this.signals = signals;
    this.place = place;
    this.paused = paused;
    SupervisorConfig config = settings.supervisor();
    this.interval = config.healthInterval();
    this.healthTimeout = config.healthTimeout();
    this.stopTimeout = config.stopTimeout();
  }

  /** Reads commands from the start: the supervisor may end before the worker is ready. */
  static UnderSupervision begin(
      Signals signals, WorkerProcesses.Place place, boolean paused, Settings settings) {
    UnderSupervision side = new UnderSupervision(signals, place, paused, settings);
    // Not virtual: reading from standard input blocks the thread underneath.
    Thread.ofPlatform().daemon().name("supervisor-commands").start(side::listen);
    return side;
  }

  /** Reports a worker that has started to claim jobs. */
  void serve(WorkerProcesses where, WorkerProcess what) {
    health = where;
    synchronized (lock) {
      worker = what;
      if (paused) {
        what.pause();
      }
    }
    status = HealthStatus.HEALTHY;
    beat();
    Thread.ofPlatform().daemon().name("supervisor-health").start(this::keepBeating);
  }

  boolean isPaused() {
    synchronized (lock) {
      return paused;
    }
  }

  private void listen() {
    try (BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String command = commands.readLine();
      while (command != null) {
        execute(command);
        command = commands.readLine();
      }
      log.warn("the supervisor has ended; this worker stops");
    } catch (IOException broken) {
      log.warn("the connection to the supervisor broke; this worker stops", broken);
    }
    end();
  }

  private void execute(String command) {
    switch (command) {
      case "pause" -> pause(true);
      case "resume" -> pause(false);
      case "stop" -> end();
      default -> log.warn("unknown command '{}' from the supervisor", command);
    }
  }

  private void pause(boolean now) {
    synchronized (lock) {
      paused = now;
      WorkerProcess there = worker;
      if (there != null && now) {
        there.pause();
      } else if (there != null) {
        there.resume();
      }
    }
    beat();
  }

  /** Stops as a signal does; halts the process when that takes too long. */
  private void end() {
    signals.raise();
    Thread.ofPlatform()
        .daemon()
        .name("supervisor-end")
        .start(
            () -> {
              try {
                TimeUnit.NANOSECONDS.sleep(stopTimeout.plus(EXIT_TIMEOUT).toNanos());
                log.error("this worker did not stop in time; ending the process");
              } catch (InterruptedException interrupted) {
                // Halt at once.
              }
              Runtime.getRuntime().halt(WorkerExit.UNCAUGHT);
            });
  }

  private void keepBeating() {
    try {
      synchronized (lock) {
        while (!closed) {
          lock.wait(interval.toMillis());
          if (!closed) {
            beat();
          }
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reports that the worker claims no more jobs. */
  void stopping() {
    status = HealthStatus.STOPPING;
    beat();
  }

  private void beat() {
    WorkerProcesses where = health;
    WorkerProcess there = worker;
    if (where == null || there == null) {
      return;
    }
    List<JobId> jobs = there.running();
    try {
      boolean known =
          where.beat(
              place,
              status,
              pid,
              jobs.isEmpty() ? null : jobs.getFirst(),
              there.problem(),
              details(there, jobs));
      if (!known) {
        log.error("{} was replaced by its supervisor; this process ends", place.component());
        Runtime.getRuntime().halt(WorkerExit.GIVEN_UP);
      }
    } catch (DatabaseException unavailable) {
      log.debug("the health of this worker could not be reported", unavailable);
    }
  }

  private Json details(WorkerProcess worker, List<JobId> jobs) {
    ObjectNode details =
        Shown.object()
            .put("worker", worker.name())
            .put("version", Version.text())
            .put("concurrency", worker.concurrency())
            .put("silentAfterMs", healthTimeout.toMillis())
            .put("jobs", jobs.size());
    ObjectNode figures = details.putObject("metrics");
    worker.metrics().counted().forEach(figures::put);
    return new Json(details.toString());
  }

  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      lock.notifyAll();
    }
  }
}
