package dev.holdfast.server.worker;

import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.server.worker.LongPollBroker.Line;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The workers that wait, line by line in the order they came, and when each line is to be polled
 * next. Claims nothing and reads no database; all state is under one lock.
 */
final class WaitingLines {
  private static final Duration POLL = Duration.ofSeconds(1);

  /** A request that waits for jobs. */
  static final class Waiter {
    final LongPollBroker.Poll poll;
    final CompletableFuture<List<LeasedJob>> jobs = new CompletableFuture<>();

    /** The broker is claiming for this waiter, so another thread must not remove it. */
    private boolean served;

    private boolean leaving;

    Waiter(LongPollBroker.Poll poll) {
      this.poll = poll;
    }
  }

  private static final class Waiters {
    final Deque<Waiter> inOrder = new ArrayDeque<>();
    long pollAt;
    boolean notified;
    boolean knownEmpty;
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Line, Waiters> lines = new HashMap<>();
  private boolean closed;

  int waiting() {
    lock.lock();
    try {
      return lines.values().stream().mapToInt(waiters -> waiters.inOrder.size()).sum();
    } finally {
      lock.unlock();
    }
  }

  boolean isWaitedFor(String name) {
    lock.lock();
    try {
      return lines.entrySet().stream()
          .anyMatch(
              entry -> entry.getKey().queue().equals(name) && !entry.getValue().inOrder.isEmpty());
    } finally {
      lock.unlock();
    }
  }

  /** Whether a new request may claim: not before waiting ones, nor if the queue is known empty. */
  boolean mayClaim(Line line) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      if (waiters == null) {
        return true;
      }
      return waiters.inOrder.isEmpty()
          && !(waiters.knownEmpty && System.nanoTime() - waiters.pollAt < 0);
    } finally {
      lock.unlock();
    }
  }

  /**
   * A newcomer's claim found nothing. The line does not become known to be empty: nothing listens
   * to its notifications yet, so one may have been missed.
   */
  void foundNothing(Line line, Claimed nothing) {
    lock.lock();
    try {
      Waiters waiters = lines.computeIfAbsent(line, l -> new Waiters());
      waiters.pollAt = System.nanoTime() + untilPoll(nothing).toNanos();
    } finally {
      lock.unlock();
    }
  }

  private static Duration untilPoll(Claimed nothing) {
    Duration due = nothing.nextDue();
    return due == null || due.compareTo(POLL) > 0
        ? POLL
        : due.isNegative() ? Duration.ofMillis(1) : due.plusMillis(1);
  }

  /** False if the lines are closed. */
  boolean enter(Line line, Waiter waiter) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      Waiters waiters = lines.computeIfAbsent(line, l -> new Waiters());
      waiters.inOrder.add(waiter);
      if (!waiters.knownEmpty) {
        // A job may have come between the waiter's own claim and this moment.
        waiters.notified = true;
      }
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The jobs that were claimed for the waiter at the last moment. */
  List<LeasedJob> leave(Line line, Waiter waiter) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      if (!waiter.served && waiters != null && waiters.inOrder.remove(waiter)) {
        return List.of();
      }
      // The broker is claiming for it; how that ends comes by the future.
      waiter.leaving = true;
    } finally {
      lock.unlock();
    }
    return waiter.jobs.join();
  }

  /** The waiter's client has gone: it gets nothing, except what is being claimed for it now. */
  void abandon(Line line, Waiter waiter) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      if (!waiter.served && waiters != null && waiters.inOrder.remove(waiter)) {
        waiter.jobs.complete(List.of());
      } else {
        waiter.leaving = true;
      }
    } finally {
      lock.unlock();
    }
  }

  /** There may be jobs in the queue. */
  void notified(String name) {
    lock.lock();
    try {
      lines.forEach(
          (line, waiters) -> {
            if (line.queue().equals(name)) {
              waiters.notified = true;
              waiters.knownEmpty = false;
            }
          });
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a line that was notified or is to be polled; null when the lines are closed. */
  @Nullable Line next() {
    lock.lock();
    try {
      while (!closed) {
        long wait = POLL.toNanos();
        long now = System.nanoTime();
        lines.values().removeIf(w -> w.inOrder.isEmpty() && now - w.pollAt > 0);
        for (Map.Entry<Line, Waiters> entry : lines.entrySet()) {
          Waiters waiters = entry.getValue();
          if (waiters.inOrder.isEmpty()) {
            continue;
          }
          long left = waiters.pollAt - now;
          if (waiters.notified || left <= 0) {
            waiters.notified = false;
            return entry.getKey();
          }
          wait = Math.min(wait, left);
        }
        changed.awaitNanos(wait);
      }
      return null;
    } catch (InterruptedException neverInterrupted) {
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** The first of a line, which stays in it until {@link #remove} or {@link #keep}. */
  @Nullable Waiter first(Line line) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      Waiter first = waiters == null || closed ? null : waiters.inOrder.peek();
      if (first != null) {
        first.served = true;
      }
      return first;
    } finally {
      lock.unlock();
    }
  }

  void remove(Line line, Waiter waiter) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      if (waiters != null) {
        waiters.inOrder.remove(waiter);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Nothing was found: the waiter stays the first, unless its time ended meanwhile. */
  void keep(Line line, Waiter waiter, Claimed nothing) {
    lock.lock();
    try {
      waiter.served = false;
      Waiters waiters = lines.computeIfAbsent(line, l -> new Waiters());
      waiters.pollAt = System.nanoTime() + untilPoll(nothing).toNanos();
      waiters.knownEmpty = !waiters.notified;
      if (waiter.leaving || closed) {
        waiters.inOrder.remove(waiter);
        waiter.jobs.complete(List.of());
      }
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      lines
          .values()
          .forEach(
              waiters ->
                  waiters.inOrder.stream()
                      .filter(waiter -> !waiter.served)
                      .forEach(waiter -> waiter.jobs.complete(List.of())));
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
