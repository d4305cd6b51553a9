package dev.holdfast.simulation.scenario;

import dev.holdfast.model.job.JobId;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A worker process: the worker as it ships, in a process that can be killed and frozen. */
final class SimulatedWorker {
  private final Scheduler scheduler;
  private final Network network;
  private final SimulatedProcess process;
  private final int concurrency;
  private final long startedAt;
  private @Nullable Worker worker;
  private long lastFrozen = Long.MIN_VALUE / 2;
  private long lastCutAlone = Long.MIN_VALUE / 2;
  private long lastDisturbed = Long.MIN_VALUE / 2;
  private boolean stopping;
  private boolean stopped;

  SimulatedWorker(
      Scheduler scheduler, Network network, String name, int concurrency, long wallOffsetMillis) {
    this.scheduler = scheduler;
    this.network = network;
    this.process = new SimulatedProcess(scheduler, name, wallOffsetMillis);
    this.concurrency = concurrency;
    this.startedAt = scheduler.now();
  }

  String name() {
    return process.name();
  }

  SimulatedProcess process() {
    return process;
  }

  int concurrency() {
    return concurrency;
  }

  long startedAt() {
    return startedAt;
  }

  void runs(Worker made) {
    worker = made;
  }

  /** Handlers that go on although their attempts were given up. */
  int overdue() {
    Worker running = worker;
    return running == null ? 0 : running.overdue().size();
  }

  /** The jobs that have a place in it. */
  List<JobId> places() {
    Worker running = worker;
    return running == null ? List.of() : running.running();
  }

  boolean isAlive() {
    return !process.isDead() && !process.isFrozen() && !stopped;
  }

  /** Whether it may get faults: it is neither dead nor on its way out. */
  boolean isUsable() {
    return isAlive() && !stopping && worker != null;
  }

  // ---- what happens to it

  void kill() {
    process.kill();
  }

  void freeze(Duration time) {
    process.freeze();
    disturbed(time);
    lastFrozen = scheduler.now() + time.toNanos();
    scheduler.after(time.toNanos(), process::thaw);
  }

  void cutAlone(Duration time) {
    network.cut(name(), time);
    disturbed(time);
    lastCutAlone = scheduler.now() + time.toNanos();
  }

  /** Until then, and for the moment that it takes to notice, no rule about time holds. */
  void disturbed(Duration time) {
    lastDisturbed = Math.max(lastDisturbed, scheduler.now() + time.toNanos());
  }

  boolean wasFrozenSince(long moment) {
    return lastFrozen >= moment;
  }

  boolean wasDisturbedAloneSince(long moment) {
    return Math.max(lastFrozen, lastCutAlone) >= moment;
  }

  /** Since when nothing has disturbed it. */
  long calmSince() {
    return Math.max(lastDisturbed, network.hangsUntil(name()));
  }

  /** Ends like a process that got SIGTERM. */
  void stop(Duration timeout, Runnable then) {
    stopping = true;
    Worker running = worker;
    if (running == null) {
      return;
    }
    process.start(
        "shutdown",
        () -> {
          running.stop(timeout);
          stopped = true;
          then.run();
          // Handlers that do not leave end with their process.
          scheduler.after(0, process::kill);
        });
  }
}
