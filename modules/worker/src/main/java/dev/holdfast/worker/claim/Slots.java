package dev.holdfast.worker.claim;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.worker.attempt.AttemptExecutor;
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
 * wait here for their settlement to be written, and free their slot meanwhile.
 */
public final class Slots {
  /** How many may wait for their ending: a bound for when the source is unavailable. */
  private static final int MOST_ENDING = 1_000;

  private final int limit;
  private final Map<Lease, AttemptExecutor> runs = new LinkedHashMap<>();
  private final Set<AttemptExecutor> ending = new HashSet<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean closed;

  public Slots(int limit) {
    this.limit = limit;
  }

  /** False when there is no place: the worker is stopping, or got more than it asked for. */
  public boolean add(AttemptExecutor run) {
    lock.lock();
    try {
      if (closed || running() >= limit) {
        return false;
      }
      runs.put(run.lease(), run);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Its handler has left. */
  public void ending(AttemptExecutor run) {
    lock.lock();
    try {
      if (runs.get(run.lease()) == run) {
        ending.add(run);
      }
    } finally {
      lock.unlock();
    }
  }

  public void remove(AttemptExecutor run) {
    lock.lock();
    try {
      runs.remove(run.lease(), run);
      ending.remove(run);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  Set<Lease> leases() {
    lock.lock();
    try {
      return Set.copyOf(runs.keySet());
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
      return runs.size();
    } finally {
      lock.unlock();
    }
  }

  /** How many more may be claimed. */
  int free() {
    lock.lock();
    try {
      return Math.max(0, Math.min(limit - running(), MOST_ENDING - ending.size()));
    } finally {
      lock.unlock();
    }
  }

  /** Whether one of them was claimed before this time, and no thread has come to it yet. */
  boolean hasUnbegun(long claimedBefore) {
    lock.lock();
    try {
      return runs.values().stream()
          .anyMatch(
              run -> !run.hasBegun() && !run.isEnded() && run.claimedAt() - claimedBefore < 0);
    } finally {
      lock.unlock();
    }
  }

  private int running() {
    return runs.size() - ending.size();
  }

  public Collection<AttemptExecutor> all() {
    lock.lock();
    try {
      return List.copyOf(runs.values());
    } finally {
      lock.unlock();
    }
  }

  /** In the order in which they were claimed. */
  public List<JobId> jobs() {
    return all().stream()
        .sorted(Comparator.comparingLong(AttemptExecutor::claimedAt))
        .map(run -> run.job().id())
        .toList();
  }

  /** True once nothing runs now, false when the time is up before. */
  public boolean awaitEmpty(Duration atMost) throws InterruptedException {
    lock.lock();
    try {
      long left = TimeUnit.NANOSECONDS.convert(atMost);
      while (!runs.isEmpty() && left > 0) {
        left = changed.awaitNanos(left);
      }
      return runs.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** The same, but an interrupt does not end the wait; it is kept. */
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
