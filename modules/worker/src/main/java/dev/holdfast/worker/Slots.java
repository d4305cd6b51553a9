package dev.holdfast.worker;

import dev.holdfast.model.Lease;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The attempts a worker holds, never more than its limit. */
final class Slots {
  private final int limit;
  private final Map<Lease, JobRun> runs = new LinkedHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  Slots(int limit) {
    this.limit = limit;
  }

  void add(JobRun run) {
    lock.lock();
    try {
      if (runs.size() >= limit) {
        throw new IllegalStateException("more jobs than the limit of " + limit);
      }
      runs.put(run.lease(), run);
    } finally {
      lock.unlock();
    }
  }

  void remove(JobRun run) {
    lock.lock();
    try {
      runs.remove(run.lease(), run);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  int used() {
    lock.lock();
    try {
      return runs.size();
    } finally {
      lock.unlock();
    }
  }

  int free() {
    return limit - used();
  }

  Collection<JobRun> all() {
    lock.lock();
    try {
      return List.copyOf(runs.values());
    } finally {
      lock.unlock();
    }
  }

  /** True once nothing runs any more, false when the time is up before. */
  boolean awaitEmpty(Duration atMost) throws InterruptedException {
    lock.lock();
    try {
      long left = atMost.toNanos();
      while (!runs.isEmpty() && left > 0) {
        left = changed.awaitNanos(left);
      }
      return runs.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
