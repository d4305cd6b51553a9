package dev.holdfast.server.worker;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what workers do over HTTP and this server answers, by the names by which workers in Java
 * count what they do. An attempt may be claimed at one server and end at another.
 */
public final class RemoteAttempts {
  private static final Logger log = LoggerFactory.getLogger(RemoteAttempts.class);
  private static final int MOST = 100_000;
  private static final Duration REMEMBERED = Duration.ofHours(1);

  private final Metrics metrics;
  private final Function<List<Lease>, Map<Lease, Duration>> runTimes;
  private final Cache<Lease, Long> claimedAt = remembered();
  // A completion that is sent again is accepted again.
  private final Cache<Lease, Boolean> ended = remembered();

  /**
   * @param runTimes reads how long attempts took whose claim this server does not remember
   */
  public RemoteAttempts(Metrics metrics, Function<List<Lease>, Map<Lease, Duration>> runTimes) {
    this.metrics = metrics;
    this.runTimes = runTimes;
  }

  private static <T> Cache<Lease, T> remembered() {
    return Caffeine.newBuilder().maximumSize(MOST).expireAfterWrite(REMEMBERED).build();
  }

  public void claimed(Collection<LeasedJob> jobs) {
    long now = System.nanoTime();
    for (LeasedJob job : jobs) {
      claimedAt.put(job.lease(), now);
      metrics.time(Metrics.QUEUE_WAIT, job.queueWait());
    }
  }

  void beat() {
    metrics.count(Metrics.HEARTBEATS, 1);
  }

  /**
   * The accepted end of an attempt.
   *
   * @param again whether the job goes on with another attempt
   */
  public record End(Settlement settlement, boolean again) {}

  /** An attempt whose handler waits. */
  void suspended(Lease attempt) {
    Long since = claimedAt.asMap().remove(attempt);
    if (since != null) {
      metrics.time(Metrics.RUN_TIME, Duration.ofNanos(System.nanoTime() - since));
    }
  }

  public void ended(List<End> ends) {
    List<Lease> elsewhere = new ArrayList<>();
    for (End end : ends) {
      Lease attempt = end.settlement().lease();
      if (ended.asMap().putIfAbsent(attempt, true) != null) {
        continue;
      }
      Long since = claimedAt.asMap().remove(attempt);
      if (since == null) {
        elsewhere.add(attempt);
      } else {
        metrics.time(Metrics.RUN_TIME, Duration.ofNanos(System.nanoTime() - since));
      }
      if (end.again() && end.settlement() instanceof Settlement.Fail fail) {
        metrics.count(Metrics.RETRIES, "code", fail.failure().code(), 1);
      }
    }
    if (!elsewhere.isEmpty()) {
      counting(() -> runTimes.apply(elsewhere), Map.<Lease, Duration>of())
          .values()
          .forEach(took -> metrics.time(Metrics.RUN_TIME, took));
    }
  }

  /**
   * What is read for a count. The attempts have ended: where it cannot be read, the worker gets its
   * answer all the same, and they are not counted.
   */
  static <T> T counting(Supplier<T> read, T unknown) {
    try {
      return read.get();
    } catch (DatabaseException unreadable) {
      log.warn("attempts that have ended are not counted: {}", unreadable.getMessage());
      return unknown;
    }
  }
}
