package dev.holdfast.worker.source;

import dev.holdfast.model.value.Jitter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs something again and again, on a thread of its own that user code cannot starve. What is run
 * says how long to wait; what it throws is logged and waited off, and never ends the loop.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Loop {
  private static final Logger log = LoggerFactory.getLogger(Loop.class);
  private static final Duration FIRST_BACKOFF = Duration.ofMillis(200);

  /** With its jitter, work goes on within three seconds after an outage. */
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(2);

  /** For work that has no reason of its own to run again. */
  public static final Duration LONGEST_WAIT = Duration.ofDays(1);

  /** One round; the answer is how long to wait before the next. */
  @FunctionalInterface
  public interface Work {
    Duration runOnce();
  }

  private final String name;
  private final Work work;
  private final Runnable atEnd;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile boolean woken;
  private volatile boolean ended;
  private Duration backoff = FIRST_BACKOFF;

  public Loop(String name, Work work) {
    this(name, work, () -> {});
  }

  /**
   * @param atEnd what is still to be done once no round follows; it is tried once
   */
  public Loop(String name, Work work, Runnable atEnd) {
    this.name = name;
    this.work = work;
    this.atEnd = atEnd;
    this.thread = Thread.ofPlatform().daemon().name("holdfast-" + name).unstarted(this::run);
  }

  public Loop start() {
    thread.start();
    return this;
  }

  private void run() {
    while (!ended) {
      try {
        waitFor(round());
      } catch (Throwable notEvenLogged) {
        // As when there is no memory left for the log line; there may be some in a moment.
        LockSupport.parkNanos(FIRST_BACKOFF.toNanos());
      }
    }
    try {
      atEnd.run();
    } catch (SourceUnavailableException unavailable) {
      log.debug("{}: {} (at its end)", name, unavailable.getMessage());
    } catch (Throwable e) {
      log.error("{} failed (at its end)", name, e);
    }
  }

  private Duration round() {
    try {
      Duration wait = work.runOnce();
      backoff = FIRST_BACKOFF;
      return wait;
    } catch (Throwable e) {
      logFailure(name, e);
    }
    Duration wait = backoff;
    backoff =
        backoff.multipliedBy(2).compareTo(LONGEST_BACKOFF) < 0
            ? backoff.multipliedBy(2)
            : LONGEST_BACKOFF;
    return jittered(wait);
  }

  /** Of a round that is tried again. */
  public static void logFailure(String what, Throwable failure) {
    switch (failure) {
      case SourceBusyException busy -> log.warn("{}: {} (trying again)", what, busy.getMessage());
      // The source itself says so, once for all that ask it.
      case SourceUnavailableException unavailable ->
          log.debug("{}: {} (trying again)", what, unavailable.getMessage());
      default -> log.error("{} failed (trying again)", what, failure);
    }
  }

  /** Between three quarters and five quarters: loops of many workers do not stay in step. */
  public static Duration jittered(Duration wait) {
    return Jitter.aroundQuarter(wait);
  }

  /** The next round begins at once. */
  public void wake() {
    // Many attempts may end at the same time. Whoever comes after this is seen by the next round.
    if (woken) {
      return;
    }
    lock.lock();
    try {
      woken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void waitFor(Duration wait) {
    lock.lock();
    try {
      long left = TimeUnit.NANOSECONDS.convert(wait);
      while (!woken && !ended && left > 0) {
        left = changed.awaitNanos(left);
      }
      woken = false;
    } catch (InterruptedException ignored) {
      // Nobody has reason to interrupt this thread, and it must not end the loop.
    } finally {
      lock.unlock();
    }
  }

  /** Starts no further round. The current one continues. */
  public void end() {
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** True once no round is under way any more, after {@link #end}; false when the time is up. */
  public boolean awaitEnd(Duration atMost) throws InterruptedException {
    return thread.getState() == Thread.State.NEW
        || thread.equals(Thread.currentThread())
        || thread.join(atMost);
  }
}
