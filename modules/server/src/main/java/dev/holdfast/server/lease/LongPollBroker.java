package dev.holdfast.server.lease;

import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.notify.DatabaseSubscription;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where workers wait for tasks, in the order they came.
 *
 * <p>Whoever comes to an empty line looks for himself. Whoever finds nothing waits; from then on
 * one thread looks for all of them, when the queue is notified, when the next task is due, and once
 * a second besides. It claims for the first in line, then for the second, until there is nothing
 * left: a new task wakes one worker, not all of them.
 */
public final class LongPollBroker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LongPollBroker.class);
  private static final Duration POLL = Duration.ofSeconds(1);

  /** One queue as one tenant's workers see it; null is all tenants. */
  record Line(String queue, @Nullable String tenant) {}

  private static final class Waiter {
    final String worker;
    final int most;
    final Duration lease;
    final CompletableFuture<List<LeasedJob>> jobs = new CompletableFuture<>();
    boolean served;
    boolean leaving;

    Waiter(String worker, int most, Duration lease) {
      this.worker = worker;
      this.most = most;
      this.lease = lease;
    }
  }

  private static final class Waiters {
    final Deque<Waiter> inOrder = new ArrayDeque<>();
    long lookAt;
    boolean rung;
    boolean knownEmpty;
  }

  private final JobQueue queue;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Line, Waiters> lines = new HashMap<>();
  private final DatabaseSubscription subscription;
  private final Thread usher;
  private boolean closed;

  public LongPollBroker(JobQueue queue, DatabaseSubscription subscription) {
    this.queue = queue;
    this.subscription = subscription;
    subscription.onWakeUp(this::rung);
    this.usher = Thread.ofPlatform().daemon().name("holdfast-waiting-room").start(this::usher);
  }

  /** Up to {@code most} jobs; none when the patience is over, or the room closes. */
  List<LeasedJob> lease(Line line, String worker, int most, Duration lease, Duration patience)
      throws InterruptedException {
    if (mayFind(line)) {
      Claimed found = claim(line, worker, most, lease);
      if (!found.jobs().isEmpty() || !patience.isPositive()) {
        return found.jobs();
      }
      foundNothing(line, found);
    } else if (!patience.isPositive()) {
      return List.of();
    }
    Waiter waiter = new Waiter(worker, most, lease);
    if (!enter(line, waiter)) {
      return List.of();
    }
    subscription.add(line.queue());
    try {
      return waiter.jobs.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException inVain) {
      return leave(line, waiter);
    } catch (InterruptedException interrupted) {
      giveBack(leave(line, waiter));
      throw interrupted;
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof RuntimeException trouble
          ? trouble
          : new IllegalStateException(failed);
    }
  }

  public int waiting() {
    lock.lock();
    try {
      return lines.values().stream().mapToInt(waiters -> waiters.inOrder.size()).sum();
    } finally {
      lock.unlock();
    }
  }

  public boolean isWaitedFor(String name) {
    lock.lock();
    try {
      return lines.entrySet().stream()
          .anyMatch(
              entry -> entry.getKey().queue().equals(name) && !entry.getValue().inOrder.isEmpty());
    } finally {
      lock.unlock();
    }
  }

  /** Whether notifications are known not to arrive here. */
  public boolean isDeaf() {
    return subscription.nothingArrives();
  }

  /** Not past those who wait, and not again what was looked at a moment ago. */
  private boolean mayFind(Line line) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      if (waiters == null) {
        return true;
      }
      return waiters.inOrder.isEmpty()
          && !(waiters.knownEmpty && System.nanoTime() - waiters.lookAt < 0);
    } finally {
      lock.unlock();
    }
  }

  private void foundNothing(Line line, Claimed nothing) {
    lock.lock();
    try {
      Waiters waiters = lines.computeIfAbsent(line, l -> new Waiters());
      // Not while nobody listens yet: what was rung meanwhile nobody would have heard.
      waiters.lookAt = System.nanoTime() + until(nothing).toNanos();
    } finally {
      lock.unlock();
    }
  }

  private static Duration until(Claimed nothing) {
    Duration due = nothing.nextDue();
    return due == null || due.compareTo(POLL) > 0
        ? POLL
        : due.isNegative() ? Duration.ofMillis(1) : due.plusMillis(1);
  }

  private boolean enter(Line line, Waiter waiter) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      Waiters waiters = lines.computeIfAbsent(line, l -> new Waiters());
      waiters.inOrder.add(waiter);
      if (!waiters.knownEmpty) {
        // Between his own look and this moment something may have come.
        waiters.rung = true;
      }
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** What he was given at the last moment. */
  private List<LeasedJob> leave(Line line, Waiter waiter) {
    lock.lock();
    try {
      Waiters waiters = lines.get(line);
      if (!waiter.served && waiters != null && waiters.inOrder.remove(waiter)) {
        return List.of();
      }
      // Somebody is just claiming for him.
      waiter.leaving = true;
    } finally {
      lock.unlock();
    }
    return waiter.jobs.join();
  }

  private void rung(String name) {
    lock.lock();
    try {
      lines.forEach(
          (line, waiters) -> {
            if (line.queue().equals(name)) {
              waiters.rung = true;
              waiters.knownEmpty = false;
            }
          });
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void usher() {
    Line line;
    while ((line = next()) != null) {
      serve(line);
    }
  }

  /** The next line worth looking at, once there is one; null when the room has closed. */
  private @Nullable Line next() {
    lock.lock();
    try {
      while (!closed) {
        long wait = POLL.toNanos();
        long now = System.nanoTime();
        lines.values().removeIf(w -> w.inOrder.isEmpty() && now - w.lookAt > 0);
        for (Map.Entry<Line, Waiters> entry : lines.entrySet()) {
          Waiters waiters = entry.getValue();
          if (waiters.inOrder.isEmpty()) {
            continue;
          }
          long left = waiters.lookAt - now;
          if (waiters.rung || left <= 0) {
            waiters.rung = false;
            return entry.getKey();
          }
          wait = Math.min(wait, left);
        }
        changed.awaitNanos(wait);
      }
      return null;
    } catch (InterruptedException nobodyDoesThat) {
      return null;
    } finally {
      lock.unlock();
    }
  }

  private void serve(Line line) {
    Waiter first;
    while ((first = first(line)) != null) {
      try {
        Claimed found = claim(line, first.worker, first.most, first.lease);
        if (found.jobs().isEmpty()) {
          keep(line, first, found);
          return;
        }
        dismiss(line, first);
        first.jobs.complete(found.jobs());
      } catch (RuntimeException trouble) {
        dismiss(line, first);
        first.jobs.completeExceptionally(trouble);
        if (!(trouble instanceof DatabaseException)) {
          log.error("looking for tasks of {} failed", line.queue(), trouble);
        }
      }
    }
  }

  private @Nullable Waiter first(Line line) {
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

  private void dismiss(Line line, Waiter waiter) {
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

  /** He stays the first, unless he had enough of waiting meanwhile. */
  private void keep(Line line, Waiter waiter, Claimed nothing) {
    lock.lock();
    try {
      waiter.served = false;
      Waiters waiters = lines.computeIfAbsent(line, l -> new Waiters());
      waiters.lookAt = System.nanoTime() + until(nothing).toNanos();
      waiters.knownEmpty = !waiters.rung;
      if (waiter.leaving || closed) {
        waiters.inOrder.remove(waiter);
        waiter.jobs.complete(List.of());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Looks for himself, past all who wait. */
  Claimed claim(Line line, String worker, int most, Duration lease) {
    return line.tenant() == null
        ? queue.claim(line.queue(), most, worker, lease)
        : queue.claim(line.queue(), most, worker, lease, line.tenant());
  }

  /** Jobs that nobody came to fetch. */
  void giveBack(Collection<LeasedJob> jobs) {
    List<Settlement> unwanted = new ArrayList<>();
    jobs.forEach(job -> unwanted.add(new Settlement.Release(job.lease(), false)));
    if (!unwanted.isEmpty()) {
      queue.settle(unwanted);
      jobs.stream().map(LeasedJob::queue).distinct().forEach(this::rung);
    }
  }

  @Override
  public void close() {
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
    try {
      usher.join(Duration.ofSeconds(5));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
