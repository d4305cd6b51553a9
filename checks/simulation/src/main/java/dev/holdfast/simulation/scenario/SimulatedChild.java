package dev.holdfast.simulation.scenario;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.simulation.kernel.Scheduler;
import dev.holdfast.simulation.kernel.SimulatedProcess;
import dev.holdfast.simulation.supervision.Child;
import java.time.Duration;
import java.util.Random;

/**
 * A worker process under a simulated supervisor: boots, reports, crashes, hangs, ignores signals.
 */
final class SimulatedChild extends Child {
  private static final long SECOND = 1_000_000_000L;
  private static final Duration BEAT = Duration.ofSeconds(5);

  private final Scheduler scheduler;
  private final SupervisorScenario scenario;
  private final SimulatedProcess process;
  private final String component;
  private final int incarnation;
  private final long pid;
  private final boolean deafToStop;
  private final boolean deafToTerm;
  private int exitCode;
  private boolean healthy;
  private long lastBeat;
  private long silence;
  private long frozenSince = -1;
  private boolean told;

  SimulatedChild(SupervisorScenario scenario, String component, int incarnation, long pid) {
    this.scenario = scenario;
    this.scheduler = scenario.scheduler();
    this.component = component;
    this.incarnation = incarnation;
    this.pid = pid;
    this.process = new SimulatedProcess(scheduler, component + "." + pid, 0);
    Random random = scheduler.random();
    this.deafToStop = random.nextInt(6) == 0;
    this.deafToTerm = random.nextInt(6) == 0;
    this.lastBeat = scheduler.now();
    process.start("main", this::run);
    if (random.nextInt(3) == 0) {
      // Crashes by itself, soon or late.
      long life =
          random.nextBoolean() ? random.nextLong(10 * SECOND) : random.nextLong(600 * SECOND);
      scheduler.after(life, () -> end(1 + random.nextInt(3)));
    }
  }

  private void run() {
    try {
      Random random = scheduler.random();
      if (random.nextInt(15) == 0) {
        Thread.sleep(Duration.ofDays(1)); // It hangs before it is healthy.
      }
      Thread.sleep(200 + random.nextInt(8_000));
      while (true) {
        beat();
        Thread.sleep(BEAT);
      }
    } catch (InterruptedException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private void beat() {
    try {
      Boolean unused = scenario.network().call(process.name(), "beat", this::reported);
    } catch (RuntimeException away) {
      // The next beat follows.
    }
  }

  /** From now on its supervisor can read it, even if this process is frozen before the answer. */
  private boolean reported() {
    boolean accepted = scenario.database().beat(component, incarnation, pid, HealthStatus.HEALTHY);
    if (accepted) {
      silence = scheduler.now() - lastBeat;
      lastBeat = scheduler.now();
      healthy = true;
    }
    return accepted;
  }

  String component() {
    return component;
  }

  long lastBeat() {
    return lastBeat;
  }

  /** How long it had reported nothing before its last report. */
  long silenceBefore() {
    return silence;
  }

  boolean isHealthy() {
    return healthy;
  }

  long frozenNanos() {
    return frozenSince < 0 ? 0 : scheduler.now() - frozenSince;
  }

  boolean wasTold() {
    return told;
  }

  void freeze(long nanos) {
    frozenSince = scheduler.now();
    process.freeze();
    scheduler.after(
        nanos,
        () -> {
          frozenSince = -1;
          process.thaw();
        });
  }

  void end(int exit) {
    if (!process.isDead()) {
      exitCode = exit;
      process.kill();
      scenario.childEnded(this, exit);
      tellEnd();
    }
  }

  // ---- for its supervisor

  @Override
  public long pid() {
    return pid;
  }

  @Override
  public boolean isAlive() {
    return !process.isDead();
  }

  @Override
  public int exitCode() {
    return exitCode;
  }

  @Override
  public void send(String word) {
    if (word.equals("stop")) {
      told = true;
      if (!deafToStop) {
        scheduler.after(scheduler.random().nextLong(9 * SECOND), this::endUnlessFrozen);
      }
    }
  }

  private void endUnlessFrozen() {
    if (frozenSince < 0) {
      end(0);
    }
  }

  @Override
  public void terminate() {
    if (!deafToTerm) {
      scheduler.after(scheduler.random().nextLong(3 * SECOND), () -> end(143));
    }
  }

  @Override
  public void kill() {
    scenario.killed(this);
    end(137);
  }
}
