package dev.holdfast.worker;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs something again and again, on a thread of its own that user code cannot starve. What is run
 * says how long to wait; what it throws is logged and waited off, and never ends the loop.
 */
final class Loop implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Loop.class);
  private static final Duration FIRST_BACKOFF = Duration.ofMillis(200);
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(5);

  /** One round; the answer is how long to wait before the next. */
  @FunctionalInterface
  interface Work {
    Duration runOnce();
  }

  private final String name;
  private final Work work;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean woken;
  private boolean closed;
  private Duration backoff = FIRST_BACKOFF;

  Loop(String name, Work work) {
    this.name = name;
    this.work = work;
    this.thread = Thread.ofPlatform().daemon().name("holdfast-" + name).unstarted(this::run);
  }

  Loop start() {
    thread.start();
    return this;
  }

  private void run() {
    while (waitFor(round())) {
      // on to the next round
    }
  }

  private Duration round() {
    try {
      Duration wait = work.runOnce();
      backoff = FIRST_BACKOFF;
      return wait;
    } catch (SourceUnavailableException away) {
      log.warn("{}: {} (trying again)", name, away.getMessage());
    } catch (RuntimeException | Error trouble) {
      log.error("{} failed (trying again)", name, trouble);
    }
    Duration wait = backoff;
    backoff =
        backoff.multipliedBy(2).compareTo(LONGEST_BACKOFF) < 0
            ? backoff.multipliedBy(2)
            : LONGEST_BACKOFF;
    return jittered(wait);
  }

  /** Between three quarters and five quarters: loops of many workers do not stay in step. */
  static Duration jittered(Duration wait) {
    long nanos = wait.toNanos();
    return Duration.ofNanos(nanos * 3 / 4 + ThreadLocalRandom.current().nextLong(nanos / 2 + 1));
  }

  /** The next round begins at once. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private boolean waitFor(Duration wait) {
    lock.lock();
    try {
      long left = wait.toNanos();
      while (!woken && !closed && left > 0) {
        left = changed.awaitNanos(left);
      }
      woken = false;
      return !closed;
    } catch (InterruptedException unexpected) {
      // Nobody interrupts this thread but a handler gone astray; it must not end the loop.
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /** Begins no further round, and waits for the one under way. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (!thread.equals(Thread.currentThread()) && thread.getState() != Thread.State.NEW) {
      try {
        thread.join(TimeUnit.SECONDS.toMillis(60));
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
