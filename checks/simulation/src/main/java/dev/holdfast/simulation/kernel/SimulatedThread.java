package dev.holdfast.simulation.kernel;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A virtual thread of the JDK whose scheduler is the simulation's: it runs when it is resumed, on
 * the thread that resumes it, until it parks or gives way to another.
 *
 * <p>It may also come to a lock that is not simulated, such as one inside the JDK that another run
 * in this JVM holds for a moment. That is not an event of the run: it is waited for in real time,
 * and neither does another thread run nor virtual time pass meanwhile.
 */
final class SimulatedThread implements Executor {
  private static final Method NEW_THREAD = newThread();
  private static final long LONGEST_WAIT_SECONDS = 120;

  private final SimulatedProcess process;
  private final Thread thread;

  /** Holds the continuation when the lock outside that this thread waited for is free. */
  private final BlockingQueue<Runnable> freed = new ArrayBlockingQueue<>(1);

  private boolean running;
  private boolean givingWay;
  private @Nullable Runnable continuation;

  SimulatedThread(SimulatedProcess process, String name, Runnable body) {
    this.process = process;
    Runnable known =
        () -> {
          SimulatedProcess.CURRENT.set(process);
          body.run();
        };
    try {
      this.thread = (Thread) NEW_THREAD.invoke(null, this, name, 0, known);
    } catch (IllegalAccessException | InvocationTargetException trouble) {
      throw new IllegalStateException(trouble);
    }
  }

  private static Method newThread() {
    try {
      Method method =
          Arrays.stream(Class.forName("java.lang.ThreadBuilders").getDeclaredMethods())
              .filter(each -> each.getName().equals("newVirtualThread"))
              .findFirst()
              .orElseThrow();
      method.setAccessible(true);
      return method;
    } catch (ReflectiveOperationException | RuntimeException unsupported) {
      throw new IllegalStateException(
          "the simulation needs a JDK of 24 or newer, started with"
              + " --add-opens java.base/java.lang=ALL-UNNAMED",
          unsupported);
    }
  }

  /** Whether this JVM lets virtual threads have a scheduler, and monitors do not pin them. */
  static boolean isSupported() {
    return Runtime.version().feature() >= 24
        && Object.class.getModule().isOpen("java.lang", SimulatedThread.class.getModule());
  }

  SimulatedProcess process() {
    return process;
  }

  Thread thread() {
    return thread;
  }

  /**
   * Called by the JDK when the thread can run: by a thread of the run, except for locks outside.
   * Who releases such a lock may unpark even a thread that got it without having to wait, and that
   * parked for something else since.
   */
  @Override
  public void execute(Runnable resumed) {
    synchronized (freed) {
      if (running && !givingWay) {
        freed.add(resumed);
        return;
      }
    }
    continuation = resumed;
    process.scheduler().unparked(this);
  }

  /** Lets other threads run first; for this thread itself. */
  @SuppressWarnings("ThreadPriorityCheck") // Which one, the scheduler of the simulation decides.
  void giveWay() {
    givingWay = true;
    Thread.yield();
    givingWay = false;
  }

  /** Runs the thread until it waits for another one of the simulation, or gives way to it. */
  void resume() {
    synchronized (freed) {
      running = true;
    }
    Runnable next = continuation;
    while (next != null) {
      next.run();
      next = waitsOutside() ? freed() : null;
    }
    Runnable unparked;
    synchronized (freed) {
      running = false;
      unparked = freed.poll();
    }
    if (unparked != null) {
      // By somebody outside, after it had parked for something else.
      execute(unparked);
    }
  }

  private boolean waitsOutside() {
    if (givingWay) {
      return false;
    }
    return switch (thread.getState()) {
      case TERMINATED -> false;
      // Locks of simulated code are no synchronizers of the JDK.
      case WAITING, TIMED_WAITING ->
          LockSupport.getBlocker(thread) instanceof AbstractOwnableSynchronizer;
      default -> true;
    };
  }

  private Runnable freed() {
    try {
      Runnable resumed = freed.poll(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
      if (resumed == null) {
        throw new IllegalStateException(
            ("thread %s waits for a lock that is not simulated, and that a thread of the simulation"
                    + " seems to hold: %s")
                .formatted(thread.getName(), Arrays.toString(thread.getStackTrace())));
      }
      return resumed;
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
