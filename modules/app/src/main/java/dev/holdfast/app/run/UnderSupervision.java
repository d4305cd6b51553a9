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
import dev.holdfast.queue.health.WorkerRegistry;
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
 * The side of a worker process that its supervisor sees: says how it is doing, does what is said on
 * standard input, and ends when that does, for then the supervisor is gone.
 */
final class UnderSupervision implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(UnderSupervision.class);

  /** Beyond the time its jobs may take: whatever holds it up then will not let go. */
  private static final Duration LAST = Duration.ofSeconds(5);

  private final Signals signals;
  private final WorkerRegistry.Place place;
  private final Duration interval;
  private final Duration silence;
  private final Duration patience;
  private final long pid = ProcessHandle.current().pid();
  private final Object turn = new Object();
  private boolean paused;
  private boolean closed;
  private volatile HealthStatus status = HealthStatus.STARTING;
  private volatile @Nullable WorkerProcess worker;
  private volatile @Nullable WorkerRegistry health;

  private UnderSupervision(
      Signals signals, WorkerRegistry.Place place, boolean paused, Settings settings) {
    this.signals = signals;
    this.place = place;
    this.paused = paused;
    SupervisorConfig config = settings.supervisor();
    this.interval = config.healthInterval();
    this.silence = config.healthTimeout();
    this.patience = config.stopTimeout();
  }

  /** Listens from the first moment: a supervisor may be gone before its worker is ready. */
  static UnderSupervision begin(
      Signals signals, WorkerRegistry.Place place, boolean paused, Settings settings) {
    UnderSupervision side = new UnderSupervision(signals, place, paused, settings);
    // Not virtual: reading from standard input blocks the thread underneath.
    Thread.ofPlatform().daemon().name("supervisor-orders").start(side::listen);
    return side;
  }

  /** The worker is there and takes jobs. */
  void serve(WorkerRegistry where, WorkerProcess what) {
    health = where;
    synchronized (turn) {
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
    synchronized (turn) {
      return paused;
    }
  }

  private void listen() {
    try (BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      String order = orders.readLine();
      while (order != null) {
        obey(order);
        order = orders.readLine();
      }
      log.warn("the supervisor is gone; this worker ends");
    } catch (IOException broken) {
      log.warn("the supervisor cannot be heard any more; this worker ends", broken);
    }
    end();
  }

  private void obey(String order) {
    switch (order) {
      case "pause" -> pause(true);
      case "resume" -> pause(false);
      case "stop" -> end();
      default -> log.warn("the supervisor said '{}', which nobody understands", order);
    }
  }

  private void pause(boolean now) {
    synchronized (turn) {
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

  /** As at a signal; and if that does not help, without asking anybody. */
  private void end() {
    signals.raise();
    Thread.ofPlatform()
        .daemon()
        .name("supervisor-end")
        .start(
            () -> {
              try {
                TimeUnit.NANOSECONDS.sleep(patience.plus(LAST).toNanos());
                log.error("this worker does not end by itself and is ended");
              } catch (InterruptedException hurry) {
                // Ends it all the sooner.
              }
              Runtime.getRuntime().halt(WorkerExit.UNCAUGHT);
            });
  }

  private void keepBeating() {
    try {
      synchronized (turn) {
        while (!closed) {
          turn.wait(interval.toMillis());
          if (!closed) {
            beat();
          }
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Its last words: it takes nothing more. */
  void stopping() {
    status = HealthStatus.STOPPING;
    beat();
  }

  private void beat() {
    WorkerRegistry where = health;
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
              there.trouble(),
              details(there, jobs));
      if (!known) {
        log.error("{} was given up by its supervisor; this process ends", place.component());
        Runtime.getRuntime().halt(WorkerExit.GIVEN_UP);
      }
    } catch (DatabaseException away) {
      log.debug("the database did not hear how this worker is doing", away);
    }
  }

  private Json details(WorkerProcess worker, List<JobId> jobs) {
    ObjectNode details =
        Shown.object()
            .put("worker", worker.name())
            .put("version", Version.text())
            .put("places", worker.places())
            .put("silentAfterMs", silence.toMillis())
            .put("jobs", jobs.size());
    ObjectNode figures = details.putObject("metrics");
    worker.metrics().snapshot().forEach(figures::put);
    return new Json(details.toString());
  }

  @Override
  public void close() {
    synchronized (turn) {
      closed = true;
      turn.notifyAll();
    }
  }
}
