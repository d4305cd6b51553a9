package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process of the simulation: its threads can be killed or frozen all at once, and its clocks are
 * its own.
 */
public final class SimulatedProcess {
  static final ThreadLocal<@Nullable SimulatedProcess> CURRENT = new ThreadLocal<>();

  private final Scheduler scheduler;
  private final String name;
  private final long monotonicOffset;
  private final long wallOffsetMillis;
  private final List<SimulatedThread> held = new ArrayList<>();
  private final List<Monitors.Held> monitors = new ArrayList<>();
  private boolean dead;
  private boolean frozen;

  /**
   * @param wallOffsetMillis how wrong its wall clock is
   */
  public SimulatedProcess(Scheduler scheduler, String name, long wallOffsetMillis) {
    this.scheduler = scheduler;
    this.name = name;
    this.wallOffsetMillis = wallOffsetMillis;
    // Of a monotonic clock only differences mean something: every process has another origin.
    this.monotonicOffset = scheduler.random().nextLong(1L << 50) - (1L << 49);
  }

  /** The process that the calling thread belongs to. */
  public static SimulatedProcess current() {
    SimulatedProcess current = CURRENT.get();
    if (current == null) {
      throw new IllegalStateException(
          "not in a simulated thread: " + Thread.currentThread().getName());
    }
    return current;
  }

  /** The name of the process that the calling thread belongs to, if it belongs to one. */
  public static String currentName() {
    SimulatedProcess current = CURRENT.get();
    return current == null ? "-" : current.name();
  }

  public Scheduler scheduler() {
    return scheduler;
  }

  public String name() {
    return name;
  }

  public boolean isDead() {
    return dead;
  }

  public boolean isFrozen() {
    return frozen;
  }

  /** Those that one of its threads is in. */
  List<Monitors.Held> monitors() {
    return monitors;
  }

  long nanoTime() {
    return scheduler.now() + monotonicOffset;
  }

  long wallMillis() {
    // 2026-01-01, and what has passed.
    return 1_767_225_600_000L + scheduler.now() / 1_000_000 + wallOffsetMillis;
  }

  /** Starts a thread in this process, from outside. */
  public Thread start(String threadName, Runnable body) {
    Thread thread = new SimulatedThread(this, threadName, body).thread();
    thread.start();
    return thread;
  }

  void submit(SimulatedThread thread) {
    if (dead) {
      return;
    }
    if (frozen) {
      held.add(thread);
    } else {
      scheduler.makeReady(thread);
    }
  }

  /** No thread of it runs another instruction. */
  public void kill() {
    dead = true;
    held.clear();
    List<SimulatedThread> unused = scheduler.withdraw(this);
  }

  /** Its threads stand still; the time does not. */
  public void freeze() {
    if (!frozen && !dead) {
      frozen = true;
      held.addAll(scheduler.withdraw(this));
    }
  }

  public void thaw() {
    if (frozen) {
      frozen = false;
      held.forEach(scheduler::makeReady);
      held.clear();
    }
  }
}
