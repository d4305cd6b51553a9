package dev.holdfast.supervisor;

import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts worker processes, watches them, and restarts those that crash, within limits. One thread
 * does all of it.
 */
public final class Supervisor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Supervisor.class);
  private static final long TURN_MILLIS = 100;
  private static final long MOMENT_MILLIS = 20;

  private final WorkerRegistry registry;
  private final SupervisorOptions options;
  private final LongSupplier nanos;
  private final JobRecovery recovery;
  private final NameClaim name;
  private final Map<String, SupervisedProcess> workers = new LinkedHashMap<>();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Semaphore wakeUps = new Semaphore(0);
  private final Thread thread;
  private long lookAt;
  private long logsAt;
  private long answeredAt;
  private boolean unavailable;
  private volatile boolean replaced;
  private volatile Standing standing;

  /**
   * The components of its workers, by their status.
   *
   * @param stopped by an operator, perhaps before this supervisor was started
   * @param unhealthy neither healthy nor stopped
   */
  public record Standing(List<String> stopped, List<String> unhealthy) {}

  private Supervisor(
      WorkerRegistry registry,
      SupervisorOptions options,
      List<WorkerCommandLine> commands,
      Output output,
      LongSupplier nanos) {
    this.registry = registry;
    this.options = options;
    this.nanos = nanos;
    this.recovery = new JobRecovery(registry, options.name(), nanos);
    this.name = new NameClaim(registry, options, recovery);
    for (WorkerCommandLine command : commands) {
      WorkerLog log =
          new WorkerLog(
              command.component(),
              options.logs(),
              options.logBytes(),
              output.echo(),
              new WorkerLogTail(
                  registry.logs(),
                  new WorkerLogs.Name(options.name(), command.component()),
                  output.scrub()));
      workers.put(
          command.component(),
          new SupervisedProcess(registry, recovery, options, command, log, nanos, this::wake));
    }
    this.standing = new Standing(List.of(), List.copyOf(workers.keySet()));
    this.lookAt = nanos.getAsLong();
    this.logsAt = lookAt;
    this.answeredAt = lookAt;
    this.thread = Thread.ofPlatform().name("supervisor").unstarted(this::run);
  }

  /**
   * Where the output of the workers goes besides their log files.
   *
   * @param echo gets every line, with the component before it
   * @param scrub takes secrets out of lines before they are stored; its first argument are the
   *     lines before them
   */
  public record Output(Consumer<String> echo, BinaryOperator<String> scrub) {}

  /**
   * Claims the name, ends processes that an earlier supervisor of that name left running, and
   * starts the workers.
   */
  public static Supervisor start(
      WorkerRegistry registry,
      SupervisorOptions options,
      List<WorkerCommandLine> commands,
      Output output) {
    return start(registry, options, commands, output, System::nanoTime);
  }

  static Supervisor start(
      WorkerRegistry registry,
      SupervisorOptions options,
      List<WorkerCommandLine> commands,
      Output output,
      LongSupplier nanos) {
    Supervisor supervisor = new Supervisor(registry, options, commands, output, nanos);
    supervisor.name.claim();
    supervisor.restore();
    supervisor.thread.start();
    return supervisor;
  }

  // ---- before anything runs

  /** Continues what an earlier supervisor of this name has recorded. */
  private void restore() {
    for (WorkerHealth row : registry.readings().of(options.name())) {
      SupervisedProcess worker = workers.get(row.component());
      if (worker != null) {
        worker.follow(row.incarnation());
      }
    }
    registry.processes().clear(options.name());
    registry
        .logs()
        .last(options.name())
        .forEach(
            (component, piece) -> {
              SupervisedProcess worker = workers.get(component);
              if (worker != null) {
                worker.log().follow(piece);
              }
            });
    for (WorkerCommand command : registry.commands().inForce(options.name())) {
      SupervisedProcess worker = workers.get(command.component());
      if (worker != null) {
        worker.begin(command.action());
      }
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
        database(this::writeLogs);
        database(name::release);
      }
    } finally {
      workers.values().forEach(SupervisedProcess::close);
      ended.countDown();
    }
  }

  /** Without a database the end of the last process cannot be recorded; that is not waited for. */
  private boolean isOver() {
    return stopping.get()
        && (workers.values().stream().allMatch(SupervisedProcess::isOff)
            || (unavailable && workers.values().stream().noneMatch(SupervisedProcess::hasProcess)));
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
    database(() -> recovery.turn(this::runs));
    if (now - logsAt >= 0 && !replaced) {
      logsAt = now + options.look().toNanos();
      database(this::writeLogs);
    }
    standing =
        new Standing(
            components(SupervisedProcess::isStopped),
            components(worker -> !worker.isStopped() && !worker.isHealthy()));
  }

  private void writeLogs() {
    workers.values().forEach(worker -> worker.log().write());
  }

  private List<String> components(Predicate<SupervisedProcess> which) {
    return workers.values().stream().filter(which).map(SupervisedProcess::component).toList();
  }

  private boolean runs(String component, long pid) {
    SupervisedProcess worker = workers.get(component);
    return worker != null && worker.hasProcess(pid);
  }

  /** Renews the name, reads the reports of the workers and carries out commands. */
  private void look() {
    boolean answered =
        database(
            () -> {
              if (!name.renew()) {
                replaced();
                return;
              }
              for (WorkerHealth row : registry.readings().of(options.name())) {
                SupervisedProcess worker = workers.get(row.component());
                if (worker != null) {
                  worker.onReport(row);
                }
              }
              for (WorkerCommand command : registry.commands().open(options.name())) {
                SupervisedProcess worker = workers.get(command.component());
                if (worker != null && !stopping.get()) {
                  worker.obey(command);
                }
                registry.commands().done(command);
              }
            });
    // A slow answer counts as none: during that time workers could not report either.
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
      if (unavailable) {
        log.info("the database answers again: workers are supervised");
        unavailable = false;
      }
      return true;
    } catch (DatabaseException e) {
      if (!unavailable) {
        log.info("workers are not supervised until the database answers: {}", e.getMessage());
        unavailable = true;
      }
      return false;
    } catch (RuntimeException bug) {
      log.error("unexpected error in the supervisor; it continues", bug);
      return false;
    }
  }

  private void await() {
    try {
      if (wakeUps.tryAcquire(TURN_MILLIS, TimeUnit.MILLISECONDS)) {
        wakeUps.drainPermits();
      }
    } catch (InterruptedException stop) {
      stopping.set(true);
    }
  }

  private void wake() {
    wakeUps.release();
  }

  // ---- for the caller

  /** How many jobs it took from its dead processes: requeued, and ended for good. */
  public record Recovered(long requeued, long ended) {}

  public Recovered recovered() {
    return recovery.recovered();
  }

  public Standing standing() {
    return standing;
  }

  /** Waits until all workers that are not stopped are healthy; false when the time is over. */
  public boolean awaitHealthy(Duration timeout) throws InterruptedException {
    long until = System.nanoTime() + timeout.toNanos();
    while (!standing.unhealthy().isEmpty() && System.nanoTime() < until && ended.getCount() > 0) {
      TimeUnit.MILLISECONDS.sleep(MOMENT_MILLIS);
    }
    return standing.unhealthy().isEmpty();
  }

  /** Whether it has stopped because another supervisor has taken its name. */
  public boolean isReplaced() {
    return replaced && ended.getCount() == 0;
  }

  /** Stops the workers, giving their jobs the time they may take, and waits for all of them. */
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
