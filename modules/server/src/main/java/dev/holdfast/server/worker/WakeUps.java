package dev.holdfast.server.worker;

import dev.holdfast.queue.notify.DatabaseSubscription;
import dev.holdfast.server.http.ClientWatch;
import dev.holdfast.server.http.Problem;
import dev.holdfast.server.worker.LongPollBroker.Line;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The server's end of subscriptions over HTTP: requests of workers wait here until one of their
 * queues may have work.
 *
 * <p>A notification wakes the request that has waited longest. Its worker may have no slot free, or
 * be gone: if no claim follows soon, the next request is woken. A claim that took all it asked for
 * wakes the next one too, because there may be more jobs. A notification that arrives while no
 * request waits is kept for the next one.
 */
public final class WakeUps implements AutoCloseable {
  private static final Duration SOON = Duration.ofMillis(100);
  private static final int MOST_LINES = 10_000;

  private record Waiter(String name, Set<Line> lines, CompletableFuture<Line> woken) {}

  /** A notification, kept until a claim follows; each worker is woken once by it. */
  private record Notification(long at, Set<String> woken) {}

  private final DatabaseSubscription subscription;
  private final Duration soon;
  private final Object lock = new Object();
  private final Set<Waiter> inOrder = new LinkedHashSet<>();
  private final Set<Line> known = new HashSet<>();
  private final Map<Line, Notification> notifications = new HashMap<>();
  private final Map<Line, Long> moreWorkAt = new HashMap<>();
  private final ScheduledExecutorService later =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-wake-ups").factory());
  private boolean closed;

  public WakeUps(DatabaseSubscription subscription) {
    this(subscription, SOON);
  }

  /**
   * @param soon how long a woken worker has to claim before the next one is woken
   */
  public WakeUps(DatabaseSubscription subscription, Duration soon) {
    this.subscription = subscription;
    this.soon = soon;
    subscription.onWakeUp(this::notified);
  }

  /** The line that may have work; none when the timeout has passed, or the client has gone. */
  List<Line> await(String name, Set<Line> lines, Duration timeout, ClientWatch client)
      throws InterruptedException {
    Waiter waiter = new Waiter(name, Set.copyOf(lines), new CompletableFuture<>());
    enter(waiter);
    waiter.lines().forEach(line -> subscription.add(line.queue()));
    client.whenGone(() -> abandon(waiter));
    try {
      return List.of(waiter.woken().get(timeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException timedOut) {
      return leave(waiter);
    } catch (ExecutionException stoppingOrGone) {
      return List.of();
    } finally {
      leave(waiter);
    }
  }

  private void enter(Waiter waiter) {
    synchronized (lock) {
      if (closed) {
        throw Problem.stopping();
      }
      if (known.size() > MOST_LINES) {
        known.clear();
        notifications.clear();
        moreWorkAt.clear();
      }
      known.addAll(waiter.lines());
      inOrder.add(waiter);
      waiter.lines().stream().filter(notifications::containsKey).forEach(this::wakeNext);
    }
  }

  /** The line that the waiter was woken for at the last moment, if any. */
  private List<Line> leave(Waiter waiter) {
    synchronized (lock) {
      inOrder.remove(waiter);
      return waiter.woken().isDone() && !waiter.woken().isCompletedExceptionally()
          ? List.of(waiter.woken().join())
          : List.of();
    }
  }

  private void abandon(Waiter waiter) {
    synchronized (lock) {
      inOrder.remove(waiter);
      waiter.woken().completeExceptionally(new IllegalStateException("the client has gone"));
    }
  }

  int waiting() {
    synchronized (lock) {
      return inOrder.size();
    }
  }

  private void notified(String queue) {
    synchronized (lock) {
      known.stream().filter(line -> line.queue().equals(queue)).forEach(this::keepAndWake);
    }
  }

  private void keepAndWake(Line line) {
    notifications.put(line, new Notification(System.nanoTime(), new HashSet<>()));
    wakeNext(line);
  }

  private void wakeNext(Line line) {
    Notification notification = notifications.get(line);
    if (notification == null || closed) {
      return;
    }
    for (Waiter waiter : inOrder) {
      if (waiter.lines().contains(line) && notification.woken().add(waiter.name())) {
        inOrder.remove(waiter);
        waiter.woken().complete(line);
        var unused =
            later.schedule(() -> wakeNextIfUnclaimed(line), soon.toMillis(), TimeUnit.MILLISECONDS);
        return;
      }
    }
  }

  private void wakeNextIfUnclaimed(Line line) {
    synchronized (lock) {
      wakeNext(line);
    }
  }

  /**
   * A worker has claimed from the line.
   *
   * @param since when the claim began, by {@link System#nanoTime}; it may not have seen what came
   *     later
   * @param mayBeMore whether the claim took all it asked for
   */
  void claimed(Line line, long since, boolean mayBeMore) {
    synchronized (lock) {
      Notification notification = notifications.get(line);
      if (!mayBeMore) {
        if (notification != null && notification.at() - since <= 0) {
          notifications.remove(line);
        }
      } else if (known.contains(line)) {
        wakeForMore(line);
      }
    }
  }

  /** Not at every claim: a worker that finds jobs claims again without a wake-up. */
  private void wakeForMore(Line line) {
    long now = System.nanoTime();
    Long before = moreWorkAt.get(line);
    if (before == null || now - before > soon.toNanos()) {
      moreWorkAt.put(line, now);
      keepAndWake(line);
    }
  }

  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      IllegalStateException stopping = new IllegalStateException("the server stops");
      inOrder.forEach(waiter -> waiter.woken().completeExceptionally(stopping));
      inOrder.clear();
    }
    later.shutdownNow();
  }
}
