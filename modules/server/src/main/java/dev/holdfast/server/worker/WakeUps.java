package dev.holdfast.server.worker;

import dev.holdfast.queue.notify.DatabaseSubscription;
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
 * <p>A notification wakes the request that has waited longest. Its worker may have no place free,
 * or be gone: if no claim follows soon, the next request is woken. A claim that took all it asked
 * for wakes the next one too, because there may be more jobs. A notification that arrives while no
 * request waits is kept for the next one.
 */
public final class WakeUps implements AutoCloseable {
  private static final Duration SOON = Duration.ofMillis(100);
  private static final int MOST_LINES = 10_000;

  private record Waiter(String name, Set<Line> lines, CompletableFuture<Line> woken) {}

  /** A notification, kept until a claim follows; each worker is woken once by it. */
  private record Ring(long at, Set<String> told) {}

  private final DatabaseSubscription subscription;
  private final Duration soon;
  private final Object lock = new Object();
  private final Set<Waiter> inOrder = new LinkedHashSet<>();
  private final Set<Line> known = new HashSet<>();
  private final Map<Line, Ring> rings = new HashMap<>();
  private final Map<Line, Long> handedOnAt = new HashMap<>();
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
    subscription.onWakeUp(this::rung);
  }

  /** The line that may have work; none when the patience is over. */
  List<Line> await(String name, Set<Line> lines, Duration patience) throws InterruptedException {
    Waiter waiter = new Waiter(name, Set.copyOf(lines), new CompletableFuture<>());
    enter(waiter);
    waiter.lines().forEach(line -> subscription.add(line.queue()));
    try {
      return List.of(waiter.woken().get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException inVain) {
      return leave(waiter);
    } catch (ExecutionException stopping) {
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
        rings.clear();
        handedOnAt.clear();
      }
      known.addAll(waiter.lines());
      inOrder.add(waiter);
      waiter.lines().stream().filter(rings::containsKey).forEach(this::hand);
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

  int waiting() {
    synchronized (lock) {
      return inOrder.size();
    }
  }

  private void rung(String queue) {
    synchronized (lock) {
      known.stream().filter(line -> line.queue().equals(queue)).forEach(this::ring);
    }
  }

  private void ring(Line line) {
    rings.put(line, new Ring(System.nanoTime(), new HashSet<>()));
    hand(line);
  }

  private void hand(Line line) {
    Ring ring = rings.get(line);
    if (ring == null || closed) {
      return;
    }
    for (Waiter waiter : inOrder) {
      if (waiter.lines().contains(line) && ring.told().add(waiter.name())) {
        inOrder.remove(waiter);
        waiter.woken().complete(line);
        var unused = later.schedule(() -> handOn(line), soon.toMillis(), TimeUnit.MILLISECONDS);
        return;
      }
    }
  }

  private void handOn(Line line) {
    synchronized (lock) {
      hand(line);
    }
  }

  /**
   * A worker has claimed from the line.
   *
   * @param since when the claim began, by {@link System#nanoTime}; it may not have seen what came
   *     later
   * @param mayBeMore whether the claim took all it asked for
   */
  void looked(Line line, long since, boolean mayBeMore) {
    synchronized (lock) {
      Ring ring = rings.get(line);
      if (!mayBeMore) {
        if (ring != null && ring.at() - since <= 0) {
          rings.remove(line);
        }
      } else if (known.contains(line)) {
        handOnMore(line);
      }
    }
  }

  /** Not at every claim: a worker that finds jobs goes on claiming by itself. */
  private void handOnMore(Line line) {
    long now = System.nanoTime();
    Long before = handedOnAt.get(line);
    if (before == null || now - before > soon.toNanos()) {
      handedOnAt.put(line, now);
      ring(line);
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
