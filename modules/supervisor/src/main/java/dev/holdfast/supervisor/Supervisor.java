package dev.holdfast.supervisor;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.Machine;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.process.Companion;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts worker processes, watches them, and starts those again that crash, within limits. One
 * thread does all of it.
 */
public final class Supervisor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Supervisor.class);
  private static final long TURN_MILLIS = 100;
  private static final long MOMENT_MILLIS = 20;
  private static final Duration KILLING = Duration.ofSeconds(5);

  private final WorkerRegistry health;
  private final SupervisorOptions options;
  private final LongSupplier nanos;
  private final Leftovers leftovers;
  private final WorkerRegistry.Supervising self;
  private final Map<String, SupervisedProcess> workers = new LinkedHashMap<>();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Semaphore bell = new Semaphore(0);
  private final Thread thread;
  private long lookAt;
  private long answeredAt;
  private boolean away;
  private volatile boolean replaced;
  private volatile Standing standing;

  /**
   * How its workers stand, by their components.
   *
   * @param stopped by an operator, perhaps before this supervisor began
   * @param unhealthy those that are neither healthy nor stopped
   */
  public record Standing(List<String> stopped, List<String> unhealthy) {}

  private Supervisor(
      WorkerRegistry health,
      SupervisorOptions options,
      List<WorkerCommandLine> commands,
      Consumer<String> echo,
      LongSupplier nanos) {
    this.health = health;
    this.options = options;
    this.nanos = nanos;
    this.leftovers = new Leftovers(health, options.name(), nanos);
    this.self =
        new WorkerRegistry.Supervising(
            options.name(),
            Machine.name(),
            ProcessHandle.current().pid(),
            ProcessHandle.current().info().startInstant().orElse(Instant.EPOCH));
    for (WorkerCommandLine command : commands) {
      WorkerLog output =
          new WorkerLog(command.component(), options.logs(), options.logBytes(), echo);
      workers.put(
          command.component(),
          new SupervisedProcess(health, leftovers, options, command, output, nanos, this::wake));
    }
    this.standing = new Standing(List.of(), List.copyOf(workers.keySet()));
    this.lookAt = nanos.getAsLong();
    this.answeredAt = lookAt;
    this.thread = Thread.ofPlatform().name("supervisor").unstarted(this::run);
  }

  /**
   * Takes the name, ends what a supervisor of that name left running, and starts the workers.
   *
   * @param echo gets every line that they write, with its component before it
   */
  public static Supervisor start(
      WorkerRegistry health,
      SupervisorOptions options,
      List<WorkerCommandLine> commands,
      Consumer<String> echo) {
    return start(health, options, commands, echo, System::nanoTime);
  }

  static Supervisor start(
      WorkerRegistry health,
      SupervisorOptions options,
      List<WorkerCommandLine> commands,
      Consumer<String> echo,
      LongSupplier nanos) {
    Supervisor supervisor = new Supervisor(health, options, commands, echo, nanos);
    supervisor.takeName();
    supervisor.thread.start();
    return supervisor;
  }

  // ---- before anything runs

  private void takeName() {
    Optional<WorkerRegistry.Known> known = health.supervisor(options.name());
    boolean taken;
    if (known.isEmpty()) {
      taken = health.appear(self);
    } else {
      WorkerRegistry.Supervising other = known.get().supervising();
      boolean here = other.host().equals(self.host());
      boolean gone =
          here
              ? !Companion.isAlive(other.pid(), other.processStartedAt())
              : known.get().silentFor().compareTo(options.silence()) > 0;
      taken = gone && health.replace(other, self);
      if (taken && here) {
        endStragglers();
      }
    }
    if (!taken) {
      throw new SupervisorRunsException(
          "a supervisor named '%s' runs already%s: stop it, or name this one with HOLDFAST_SUPERVISOR_NAME"
              .formatted(
                  options.name(),
                  known
                      .map(WorkerRegistry.Known::supervising)
                      .map(other -> " (pid " + other.pid() + " on " + other.host() + ")")
                      .orElse("")));
    }
    for (WorkerHealth row : health.of(options.name())) {
      SupervisedProcess worker = workers.get(row.component());
      if (worker != null) {
        worker.follow(row.incarnation());
      }
    }
    health.clear(options.name());
    for (WorkerCommand order : health.inForce(options.name())) {
      SupervisedProcess worker = workers.get(order.component());
      if (worker != null) {
        worker.begin(order.action());
      }
    }
  }

  /** They know that they are alone and end by themselves; those that cannot are made to. */
  private void endStragglers() {
    long until = System.nanoTime() + options.stop().plus(SupervisorOptions.ENDING).toNanos();
    for (WorkerHealth row : health.of(options.name())) {
      Long pid = row.pid();
      Instant startedAt = row.processStartedAt();
      if (pid == null || startedAt == null) {
        continue;
      }
      if (Companion.isAlive(pid, startedAt)) {
        log.info("{} (pid {}) is left from before and ends", row.component(), pid);
      }
      awaitGone(pid, startedAt, until);
      if (Companion.killIfSame(pid, startedAt)) {
        log.warn("{} (pid {}) did not end by itself and was killed", row.component(), pid);
        awaitGone(pid, startedAt, System.nanoTime() + KILLING.toNanos());
      }
      leftovers.giveBack(row.component(), pid, "its supervisor was gone, and so is it");
    }
  }

  private static void awaitGone(long pid, Instant startedAt, long until) {
    try {
      while (Companion.isAlive(pid, startedAt) && System.nanoTime() < until) {
        TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- while it runs

  private void run() {
    try {
      while (!isOver()) {
        turn();
        await();
      }
      if (!replaced) {
        database(() -> health.leave(self));
      }
    } finally {
      workers.values().forEach(SupervisedProcess::close);
      ended.countDown();
    }
  }

  /** Without a database the end of the last process cannot be recorded, and is not waited for. */
  private boolean isOver() {
    return stopping.get()
        && (workers.values().stream().allMatch(SupervisedProcess::isOff)
            || (away && workers.values().stream().noneMatch(SupervisedProcess::hasProcess)));
  }

  private void turn() {
    long now = nanos.getAsLong();
    if (now - lookAt >= 0 || workers.values().stream().anyMatch(SupervisedProcess::isStarting)) {
      lookAt = now + options.look().toNanos();
      look();
    }
    for (SupervisedProcess worker : workers.values()) {
      if (stopping.get()) {
        worker.shutDown();
      }
      database(worker::turn);
    }
    database(() -> leftovers.turn(this::runs));
    standing =
        new Standing(
            components(SupervisedProcess::isStopped),
            components(worker -> !worker.isStopped() && !worker.isUp()));
  }

  private List<String> components(Predicate<SupervisedProcess> which) {
    return workers.values().stream().filter(which).map(SupervisedProcess::component).toList();
  }

  private boolean runs(String component, long pid) {
    SupervisedProcess worker = workers.get(component);
    return worker != null && worker.hasProcess(pid);
  }

  /** Says that it is there, hears how the workers are doing and what is asked of them. */
  private void look() {
    boolean answered =
        database(
            () -> {
              if (!health.watching(self)) {
                replaced();
                return;
              }
              for (WorkerHealth row : health.of(options.name())) {
                SupervisedProcess worker = workers.get(row.component());
                if (worker != null) {
                  worker.heard(row);
                }
              }
              for (WorkerCommand order : health.open(options.name())) {
                SupervisedProcess worker = workers.get(order.component());
                if (worker != null && !stopping.get()) {
                  worker.order(order);
                }
                health.done(order);
              }
            });
    // An answer that took its time is no better than none: nobody was listening meanwhile.
    long now = nanos.getAsLong();
    Duration late = options.look().plus(options.silence().dividedBy(2));
    if (!answered || now - answeredAt > late.toNanos()) {
      workers.values().forEach(SupervisedProcess::couldNotBeHeard);
    }
    if (answered) {
      answeredAt = now;
    }
  }

  private void replaced() {
    if (!stopping.getAndSet(true)) {
      replaced = true;
      log.error(
          "another supervisor has taken the name '{}'; this one stops its workers", options.name());
    }
  }

  private boolean database(Runnable turn) {
    try {
      turn.run();
      if (away) {
        log.info("workers are looked after again");
        away = false;
      }
      return true;
    } catch (DatabaseException trouble) {
      if (!away) {
        log.info("workers are left alone until the database answers: {}", trouble.getMessage());
        away = true;
      }
      return false;
    } catch (RuntimeException bug) {
      log.error("the supervisor goes on after a fault of its own", bug);
      return false;
    }
  }

  private void await() {
    try {
      if (bell.tryAcquire(TURN_MILLIS, TimeUnit.MILLISECONDS)) {
        bell.drainPermits();
      }
    } catch (InterruptedException stop) {
      stopping.set(true);
    }
  }

  private void wake() {
    bell.release();
  }

  // ---- for whoever started it

  public Standing standing() {
    return standing;
  }

  /** Whether all that are not stopped are healthy before the time is over. */
  public boolean awaitHealthy(Duration patience) throws InterruptedException {
    long until = System.nanoTime() + patience.toNanos();
    while (!standing.unhealthy().isEmpty() && System.nanoTime() < until && ended.getCount() > 0) {
      TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
    }
    return standing.unhealthy().isEmpty();
  }

  /** Whether another one has taken its name, so that it stopped. */
  public boolean isReplaced() {
    return replaced && ended.getCount() == 0;
  }

  /** Stops the workers, each with the time its jobs may take, and returns when none is left. */
  @Override
  public void close() {
    stopping.set(true);
    wake();
    boolean interrupted = false;
    while (true) {
      try {
        ended.await();
        break;
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
