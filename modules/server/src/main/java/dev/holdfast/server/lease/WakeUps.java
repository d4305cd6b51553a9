package dev.holdfast.server.lease;

import dev.holdfast.server.http.Problem;
import dev.holdfast.server.lease.LongPollBroker.Line;
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
 * Where workers wait that claim for themselves: each is told when one of its queues may have work.
 *
 * <p>A ring wakes one of them, the one that has waited longest. It may have no place free, or be
 * gone: if nobody claims soon, the next one is woken. A claim that took all it asked for wakes the
 * next one too, since there may be more. What is rung while nobody waits is kept for whoever comes.
 */
public final class WakeUps implements AutoCloseable {
  private static final Duration SOON = Duration.ofMillis(100);
  private static final int MOST_LINES = 10_000;

  private record Waiter(String name, Set<Line> lines, CompletableFuture<Line> woken) {}

  /** Kept until somebody has looked; each worker is told of it once. */
  private record Ring(long at, Set<String> told) {}

  private final Bell bell;
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

  public WakeUps(Bell bell) {
    this(bell, SOON);
  }

  /**
   * @param soon how long whoever was woken has to claim before the next one is woken
   */
  public WakeUps(Bell bell, Duration soon) {
    this.bell = bell;
    this.soon = soon;
    bell.tell(this::rung);
  }

  /** The line that may have work; none when the patience is over. */
  List<Line> await(String name, Set<Line> lines, Duration patience) throws InterruptedException {
    Waiter waiter = new Waiter(name, Set.copyOf(lines), new CompletableFuture<>());
    enter(waiter);
    waiter.lines().forEach(line -> bell.alsoTo(line.queue()));
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
        throw new Problem(503, "stopping", "the server is about to stop: try again")
            .header("Retry-After", "1");
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

  /** What he was told at the last moment. */
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
   * Somebody has looked.
   *
   * @param since before that, by {@link System#nanoTime}: what was rung later he may not have seen
   * @param mayBeMore whether he took all he asked for
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

  /** Not at every claim of a long row of them: whoever is at it goes on by himself. */
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
