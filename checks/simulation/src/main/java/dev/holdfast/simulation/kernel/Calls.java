package dev.holdfast.simulation.kernel;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What simulated code calls instead of the JDK's methods of the same name. An instance method has
 * its object as the first parameter.
 */
public final class Calls {
  private Calls() {}

  // ---- clocks

  public static long nanoTime() {
    return SimulatedProcess.current().nanoTime();
  }

  public static long currentTimeMillis() {
    return SimulatedProcess.current().wallMillis();
  }

  public static Instant now() {
    return Instant.ofEpochMilli(currentTimeMillis());
  }

  public static Clock systemUTC() {
    return new Clock() {
      @Override
      public ZoneId getZone() {
        return ZoneOffset.UTC;
      }

      @Override
      public Clock withZone(ZoneId zone) {
        return this;
      }

      @Override
      public Instant instant() {
        return now();
      }
    };
  }

  public static UUID randomUUID() {
    Scheduler scheduler = SimulatedProcess.current().scheduler();
    return new UUID(scheduler.random().nextLong(), scheduler.random().nextLong());
  }

  // ---- waiting

  /** Also returns when the thread is unparked or interrupted, as the original does. */
  public static void parkNanos(long nanos) {
    if (nanos <= 0) {
      return;
    }
    Thread thread = Thread.currentThread();
    Scheduler.Timer timer =
        SimulatedProcess.current().scheduler().after(nanos, () -> LockSupport.unpark(thread));
    LockSupport.park();
    timer.cancel();
  }

  public static void sleep(Duration time) throws InterruptedException {
    sleepNanos(time.toNanos());
  }

  public static void sleep(long millis) throws InterruptedException {
    sleepNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  public static void sleep(TimeUnit unit, long time) throws InterruptedException {
    sleepNanos(unit.toNanos(time));
  }

  private static void sleepNanos(long nanos) throws InterruptedException {
    boolean unused = await(() -> false, nanos);
  }

  /** Until it holds, and whoever makes it hold unparks this thread; or until the time is over. */
  static boolean await(BooleanSupplier holds, long nanos) throws InterruptedException {
    long until = nanoTime() + nanos;
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (holds.getAsBoolean()) {
        return true;
      }
      long left = until - nanoTime();
      if (left <= 0) {
        return false;
      }
      parkNanos(left);
    }
  }

  /** As one of the threads that are unparked when it may hold. */
  static boolean await(List<Thread> waiting, BooleanSupplier holds, long nanos)
      throws InterruptedException {
    Thread me = Thread.currentThread();
    waiting.add(me);
    try {
      return await(holds, nanos);
    } finally {
      waiting.remove(me);
    }
  }

  private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(10);

  public static boolean join(Thread thread, Duration atMost) throws InterruptedException {
    long until = nanoTime() + atMost.toNanos();
    while (thread.getState() != Thread.State.TERMINATED) {
      long left = until - nanoTime();
      if (left <= 0) {
        return false;
      }
      sleepNanos(Math.min(left, LOOK));
    }
    return true;
  }

  public static <T extends @Nullable Object> T get(
      CompletableFuture<T> future, long time, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    Thread waiting = Thread.currentThread();
    CompletableFuture<?> unused =
        future.whenComplete((value, thrown) -> LockSupport.unpark(waiting));
    if (!future.isDone() && !await(future::isDone, unit.toNanos(time))) {
      throw new TimeoutException();
    }
    return future.get();
  }

  /** Before an operation that threads use to tell each other something. */
  public static void point() {
    SimulatedProcess process = SimulatedProcess.CURRENT.get();
    if (process != null) {
      process.scheduler().point();
    }
  }

  // ---- threads

  public static ThreadBuilder ofPlatform() {
    return new ThreadBuilder.Simulated();
  }

  public static ThreadBuilder ofVirtual() {
    return new ThreadBuilder.Simulated();
  }

  public static ExecutorService newVirtualThreadPerTaskExecutor() {
    return new ThreadPool(ofVirtual().name("task").factory());
  }

  public static Executor delayedExecutor(long delay, TimeUnit unit, Executor executor) {
    SimulatedProcess process = SimulatedProcess.current();
    return task ->
        process
            .scheduler()
            .after(
                unit.toNanos(delay), () -> process.start("delayed", () -> executor.execute(task)));
  }
}
