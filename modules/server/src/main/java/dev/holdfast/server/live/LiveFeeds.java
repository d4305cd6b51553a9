package dev.holdfast.server.live;

import dev.holdfast.queue.Queue;
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
 * A feed for each tenant that somebody watches, and one for those who see all. A feed outlives its
 * last reader by a while, so that one who comes back goes on where he was; but while nobody reads
 * it, nobody looks.
 */
public final class LiveFeeds implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LiveFeeds.class);
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration KEPT = Duration.ofMinutes(1);
  private static final Duration TIME_TO_GO = Duration.ofSeconds(10);
  private static final int MOST_UNWATCHED = 20;

  /** However many feeds there are, looking takes no more connections than this at a time. */
  private static final int MOST_LOOKING = 2;

  /** All tenants; no tenant has this name. */
  private static final String EVERYBODY = "*";

  private static final class Watched {
    final LiveFeed feed;
    final ChangePoller lookout;
    long leftAt = System.nanoTime();

    Watched(LiveFeed feed, ChangePoller lookout) {
      this.feed = feed;
      this.lookout = lookout;
    }
  }

  private final Queue queue;
  private final Problems problems;
  private final InstantSource clock;
  private final int mostSubscribers;
  private final int mostOfOneClient;
  private final Map<String, Watched> feeds = new HashMap<>();
  private final Semaphore looking = new Semaphore(MOST_LOOKING);
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-live").factory());
  private boolean closed;

  /**
   * @param mostOfOneClient so that one who opens stream after stream leaves places for others
   */
  public LiveFeeds(
      Queue queue,
      Problems problems,
      InstantSource clock,
      int mostSubscribers,
      int mostOfOneClient) {
    this.queue = queue;
    this.problems = problems;
    this.clock = clock;
    this.mostSubscribers = mostSubscribers;
    this.mostOfOneClient = mostOfOneClient;
    var unused =
        ticker.scheduleWithFixedDelay(
            this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * @param lastId what he heard last; null is nothing
   */
  public synchronized void join(
      @Nullable String tenant, Subscriber subscriber, @Nullable String lastId) {
    if (closed || subscribers() >= mostSubscribers) {
      throw new Problem(503, "too_many_subscribers", "too many are listening: try again later")
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

  public synchronized LiveFeed feed(@Nullable String tenant) {
    return feeds.computeIfAbsent(tenant == null ? EVERYBODY : tenant, name -> watched(tenant)).feed;
  }

  /** When the listeners of a tenant were last told of something, by {@link System#nanoTime()}. */
  public synchronized long lastNews(@Nullable String tenant) {
    Watched watched = feeds.get(tenant == null ? EVERYBODY : tenant);
    return watched == null ? System.nanoTime() - KEPT.toNanos() : watched.feed.lastNews();
  }

  public synchronized void leave(@Nullable String tenant, Subscriber subscriber) {
    Watched watched = feeds.get(tenant == null ? EVERYBODY : tenant);
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

  private Watched watched(@Nullable String tenant) {
    byte[] epoch = new byte[6];
    new SecureRandom().nextBytes(epoch);
    LiveFeed feed = new LiveFeed(HexFormat.of().formatHex(epoch));
    return new Watched(feed, new ChangePoller(queue, problems, clock, tenant, feed, looking));
  }

  private void tick() {
    try {
      tickAll();
    } catch (RuntimeException bug) {
      log.error("live state could not be looked after", bug);
    }
  }

  private synchronized void tickAll() {
    long now = System.nanoTime();
    feeds.values().removeIf(watched -> isOver(watched, now));
    for (Watched watched : feeds.values()) {
      List<Subscriber> subscribers = watched.feed.subscribers();
      if (subscribers.isEmpty()) {
        watched.lookout.rest();
      } else {
        watched.lookout.tick();
      }
      // Here, where he cannot have left a moment ago: his thread would be another's by now.
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
