package dev.holdfast.simulation.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs simulated threads, one at a time. Which of those that could run is next, is drawn from the
 * seed; time passes only when none can run, and then jumps to the next timer. The same seed
 * therefore gives the same run.
 */
public final class Scheduler {
  private static final int CHANCE_OF_SWITCH = 8;

  private final Random random;
  private final List<SimulatedThread> ready = new ArrayList<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final Thread own = Thread.currentThread();

  /** What threads outside the run have unparked. */
  private final Queue<SimulatedThread> unparkedOutside = new ConcurrentLinkedQueue<>();

  private final long mostSwitches;
  private long now;
  private long timersSet;
  private long switches;
  private @Nullable SimulatedThread running;

  /** Something that happens at a time, unless it is cancelled. */
  public final class Timer implements Comparable<Timer> {
    private final long at;
    private final long number;
    private final Runnable action;
    private boolean cancelled;

    private Timer(long at, long number, Runnable action) {
      this.at = at;
      this.number = number;
      this.action = action;
    }

    public void cancel() {
      cancelled = true;
      timers.remove(this);
    }

    @Override
    public int compareTo(Timer other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(number, other.number);
    }
  }

  /**
   * For the thread that constructs it: only this one may run it.
   *
   * @param mostSwitches a run that takes more is taken for one that goes round in circles
   */
  public Scheduler(long seed, long mostSwitches) {
    this.random = randomOf(seed);
    this.mostSwitches = mostSwitches;
  }

  /** Whether this JVM can run simulated threads. */
  public static boolean isSupported() {
    return SimulatedThread.isSupported();
  }

  /** Of seeds that differ by one, {@link Random} itself draws much the same first numbers. */
  public static Random randomOf(long seed) {
    return new Random(seed * 0x9E3779B97F4A7C15L);
  }

  public Random random() {
    return random;
  }

  /** Virtual nanoseconds since the run began. */
  public long now() {
    return now;
  }

  /** How often a thread was resumed. */
  public long switches() {
    return switches;
  }

  public Timer after(long nanos, Runnable action) {
    Timer timer = new Timer(now + Math.max(0, nanos), timersSet++, action);
    timers.add(timer);
    return timer;
  }

  void makeReady(SimulatedThread thread) {
    ready.add(thread);
  }

  /** A thread can run that has not waited for a lock outside; may be called by any thread. */
  void unparked(SimulatedThread thread) {
    SimulatedProcess current = SimulatedProcess.CURRENT.get();
    if (own.equals(Thread.currentThread()) || (current != null && current.scheduler() == this)) {
      thread.process().submit(thread);
    } else {
      unparkedOutside.add(thread);
    }
  }

  /** Takes out what is ready of a process. */
  List<SimulatedThread> withdraw(SimulatedProcess process) {
    List<SimulatedThread> withdrawn =
        ready.stream().filter(each -> each.process() == process).toList();
    ready.removeAll(withdrawn);
    return withdrawn;
  }

  /** A place at which another thread may run first. */
  void point() {
    if (running != null && !ready.isEmpty() && random.nextInt(CHANCE_OF_SWITCH) == 0) {
      running.giveWay();
    }
  }

  /**
   * Runs until the condition holds; false when the time is over before, or when nothing can happen
   * any more.
   */
  public boolean run(long untilNanos, BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      takeUnparkedOutside();
      if (ready.isEmpty()) {
        Timer next = timers.peek();
        if (next == null || next.at > untilNanos) {
          now = Math.max(now, untilNanos);
          return false;
        }
        timers.poll();
        now = Math.max(now, next.at);
        if (!next.cancelled) {
          next.action.run();
        }
      } else {
        if (++switches > mostSwitches) {
          throw new IllegalStateException("more than " + mostSwitches + " switches of threads");
        }
        resumeAny();
      }
    }
    return true;
  }

  private void takeUnparkedOutside() {
    SimulatedThread next;
    while ((next = unparkedOutside.poll()) != null) {
      next.process().submit(next);
    }
  }

  private void resumeAny() {
    int chosen = random.nextInt(ready.size());
    SimulatedThread last = ready.removeLast();
    SimulatedThread next = chosen == ready.size() ? last : ready.set(chosen, last);
    running = next;
    next.resume();
    running = null;
  }
}
