package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.worker.handler.OverdueHandler;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The attempts a worker holds. Never more of them run than its limit; those whose handler has left
 * wait here for their settlement to be written, and free their slot meanwhile. Those that were
 * abandoned are listed as overdue until their handlers leave.
 */
public final class Slots {
  /** How many may wait for their ending: a bound for when the source is unavailable. */
  private static final int MOST_ENDING = 1_000;

  private final int limit;
  private final Runnable freed;
  private final Map<Lease, AttemptExecutor> attempts = new LinkedHashMap<>();
  private final Set<AttemptExecutor> ending = new HashSet<>();
  private final Map<AttemptExecutor, Long> overdueSince = new LinkedHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int wakeAt = 1;
  private boolean full;
  private boolean closed;

  /**
   * @param freed called when a slot is free that somebody waits for
   */
  public Slots(int limit, Runnable freed) {
    this.limit = limit;
    this.freed = freed;
  }

  /** False when there is no place: the worker is stopping, or got more than it asked for. */
  public boolean add(AttemptExecutor attempt) {
    lock.lock();
    try {
      if (closed || running() >= limit) {
        return false;
      }
      attempts.put(attempt.lease(), attempt);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Its handler has returned; how it did is settled next. */
  public void ending(AttemptExecutor attempt) {
    boolean wake;
    lock.lock();
    try {
      wake = attempts.get(attempt.lease()) == attempt && ending.add(attempt) && isWaitedFor(false);
    } finally {
      lock.unlock();
    }
    if (wake) {
      freed.run();
    }
  }

  /** No thread could be had for it. Nobody is woken: the next claim would find none either. */
  void withdraw(AttemptExecutor attempt) {
    lock.lock();
    try {
      attempts.remove(attempt.lease(), attempt);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** It is settled, or never will be. */
  public void remove(AttemptExecutor attempt) {
    boolean wake;
    lock.lock();
    try {
      attempts.remove(attempt.lease(), attempt);
      ending.remove(attempt);
      if (attempt.isHandling()) {
        overdueSince.put(attempt, System.nanoTime());
      }
      wake = isWaitedFor(true);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (wake) {
      freed.run();
    }
  }

  /** The handler of an attempt that was abandoned. */
  void handlerLeft(AttemptExecutor attempt) {
    lock.lock();
    try {
      overdueSince.remove(attempt);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether the claim loop waits for what has just become free. If its last claim found all there
   * was, only a settled job can make another one claimable, below a limit or after a dependency.
   */
  private boolean isWaitedFor(boolean settled) {
    boolean wanted = full || (wakeAt == 1 ? settled : room() >= wakeAt);
    full = false;
    return wanted;
  }

  /** After a claim: how many slots must be free for another one to be worth it. */
  public void wakeAt(int free) {
    lock.lock();
    try {
      wakeAt = free;
    } finally {
      lock.unlock();
    }
  }

  /** How many must be free for another claim to be worth it. */
  public int wakeAt() {
    lock.lock();
    try {
      return wakeAt;
    } finally {
      lock.unlock();
    }
  }

  /** How many more may be claimed; if there are none, the next one that is free is told. */
  public int freeOrWake() {
    lock.lock();
    try {
      int free = room();
      full = free == 0;
      return free;
    } finally {
      lock.unlock();
    }
  }

  /** How many more may be claimed. */
  public int free() {
    lock.lock();
    try {
      return room();
    } finally {
      lock.unlock();
    }
  }

  private int room() {
    return Math.max(0, Math.min(limit - running(), MOST_ENDING - ending.size()));
  }

  /** Those that are held, and those whose handlers still run. */
  public Set<Lease> leases() {
    lock.lock();
    try {
      Set<Lease> all = new HashSet<>(attempts.keySet());
      overdueSince.keySet().forEach(attempt -> all.add(attempt.lease()));
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Handlers that still run although their attempts were abandoned, the longest first. */
  public List<OverdueHandler> overdue() {
    lock.lock();
    try {
      long now = System.nanoTime();
      return overdueSince.entrySet().stream()
          .map(
              each ->
                  new OverdueHandler(
                      each.getKey().job().kind(),
                      each.getKey().lease(),
                      Duration.ofNanos(now - each.getValue())))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** Takes in nothing more. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  public int used() {
    lock.lock();
    try {
      return attempts.size();
    } finally {
      lock.unlock();
    }
  }

  /** Whether one of them was claimed before this time, and no thread has come to it yet. */
  public boolean hasUnbegun(long claimedBefore) {
    lock.lock();
    try {
      return attempts.values().stream()
          .anyMatch(
              each -> !each.hasBegun() && !each.isEnded() && each.claimedAt() - claimedBefore < 0);
    } finally {
      lock.unlock();
    }
  }

  private int running() {
    return attempts.size() - ending.size();
  }

  public Collection<AttemptExecutor> all() {
    lock.lock();
    try {
      return List.copyOf(attempts.values());
    } finally {
      lock.unlock();
    }
  }

  /** In the order in which they were claimed. */
  public List<JobId> jobs() {
    return all().stream()
        .sorted(Comparator.comparingLong(AttemptExecutor::claimedAt))
        .map(each -> each.job().id())
        .toList();
  }

  /** True once there is none, false when the time is up before. */
  public boolean awaitEmpty(Duration atMost) throws InterruptedException {
    lock.lock();
    try {
      long left = TimeUnit.NANOSECONDS.convert(atMost);
      while (!attempts.isEmpty() && left > 0) {
        left = changed.awaitNanos(left);
      }
      return attempts.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** An interrupt does not end the wait; it is kept. */
  public boolean awaitEmptyUninterruptibly(Duration atMost) {
    long until = System.nanoTime() + TimeUnit.NANOSECONDS.convert(atMost);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return awaitEmpty(Duration.ofNanos(until - System.nanoTime()));
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
