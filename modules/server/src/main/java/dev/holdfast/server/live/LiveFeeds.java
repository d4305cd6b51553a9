package dev.holdfast.server.live;

import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.queue.JobStore;
import dev.holdfast.server.http.Problem;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One feed for each tenant that has subscribers, and one for all tenants together. A feed is kept
 * for a minute after its last subscriber has left, so that a client that reconnects can resume; but
 * without subscribers the database is not polled.
 */
public final class LiveFeeds implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LiveFeeds.class);
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration KEPT = Duration.ofMinutes(1);
  private static final Duration TIME_TO_GO = Duration.ofSeconds(10);
  private static final int MOST_UNWATCHED = 20;

  /** Connections that all feeds together use for polling. */
  private static final int MOST_POLLING = 2;

  private static final class Watched {
    final LiveFeed feed;
    final ChangePoller poller;
    long leftAt = System.nanoTime();

    Watched(LiveFeed feed, ChangePoller poller) {
      this.feed = feed;
      this.poller = poller;
    }
  }

  private final JobStore store;
  private final Diagnostics diagnostics;
  private final InstantSource clock;
  private final int mostSubscribers;
  private final int mostOfOneClient;

  /** One of any tenant is the feed of all. */
  private final Map<Tenant, Watched> feeds = new HashMap<>();

  private final Semaphore permits = new Semaphore(MOST_POLLING);
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-live").factory());
  private boolean closed;

  /**
   * @param mostOfOneClient streams, so that one client cannot take all places
   */
  public LiveFeeds(
      JobStore store,
      Diagnostics diagnostics,
      InstantSource clock,
      int mostSubscribers,
      int mostOfOneClient) {
    this.store = store;
    this.diagnostics = diagnostics;
    this.clock = clock;
    this.mostSubscribers = mostSubscribers;
    this.mostOfOneClient = mostOfOneClient;
    var unused =
        ticker.scheduleWithFixedDelay(
            this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * @param lastId the last event that the client got; null if none
   */
  public synchronized void join(Tenant tenant, Subscriber subscriber, @Nullable String lastId) {
    if (closed || subscribers() >= mostSubscribers) {
      throw new Problem(
              503, "too_many_subscribers", "too many live streams are open: try again later")
          .header("Retry-After", "10");
    }
    if (subscribers(subscriber.client()) >= mostOfOneClient) {
      throw new Problem(
              429,
              "too_many_streams",
              "one client may have %d streams open: close one of them first"
                  .formatted(mostOfOneClient))
          .header("Retry-After", "10");
    }
    feed(tenant).join(subscriber, lastId);
  }

  public synchronized LiveFeed feed(Tenant tenant) {
    return feeds.computeIfAbsent(tenant, this::watched).feed;
  }

  /** The time of the last event of a tenant's feed, by {@link System#nanoTime()}. */
  public synchronized long lastEvent(Tenant tenant) {
    Watched watched = feeds.get(tenant);
    return watched == null ? System.nanoTime() - KEPT.toNanos() : watched.feed.lastEvent();
  }

  public synchronized void leave(Tenant tenant, Subscriber subscriber) {
    Watched watched = feeds.get(tenant);
    if (watched != null) {
      watched.feed.leave(subscriber);
      watched.leftAt = System.nanoTime();
    }
  }

  public synchronized int subscribers() {
    return feeds.values().stream().mapToInt(watched -> watched.feed.subscribers().size()).sum();
  }

  private long subscribers(String client) {
    return feeds.values().stream()
        .flatMap(watched -> watched.feed.subscribers().stream())
        .filter(subscriber -> subscriber.client().equals(client))
        .count();
  }

  private Watched watched(Tenant tenant) {
    byte[] epoch = new byte[6];
    new SecureRandom().nextBytes(epoch);
    LiveFeed feed = new LiveFeed(HexFormat.of().formatHex(epoch));
    return new Watched(feed, new ChangePoller(store, diagnostics, clock, tenant, feed, permits));
  }

  private void tick() {
    try {
      tickAll();
    } catch (RuntimeException bug) {
      log.error("the tick of live feeds failed", bug);
    }
  }

  private synchronized void tickAll() {
    long now = System.nanoTime();
    feeds.values().removeIf(watched -> isOver(watched, now));
    for (Watched watched : feeds.values()) {
      List<Subscriber> subscribers = watched.feed.subscribers();
      if (subscribers.isEmpty()) {
        watched.poller.rest();
      } else {
        watched.poller.tick();
      }
      // Under the lock, so that the subscriber has not left: its thread could serve another by now.
      subscribers.stream()
          .filter(subscriber -> subscriber.isStuckSince(TIME_TO_GO))
          .forEach(Subscriber::cutOff);
    }
  }

  private boolean isOver(Watched watched, long now) {
    return watched.feed.subscribers().isEmpty()
        && (now - watched.leftAt > KEPT.toNanos()
            || feeds.size() > mostSubscribers + MOST_UNWATCHED);
  }

  @Override
  public void close() {
    ticker.shutdownNow();
    synchronized (this) {
      closed = true;
      feeds.values().forEach(watched -> watched.feed.close());
    }
  }
}
