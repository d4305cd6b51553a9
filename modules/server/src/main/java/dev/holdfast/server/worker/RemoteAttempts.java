package dev.holdfast.server.worker;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.Collection;

/**
 * Counts what workers do over HTTP, by the names by which workers in Java count what they do. An
 * attempt counts as held until it ends, or until its lease runs out without a heartbeat that this
 * server has answered.
 */
public final class RemoteAttempts {
  private static final int MOST = 100_000;
  private static final Duration REPEATED_WITHIN = Duration.ofHours(1);

  private record Held(long since, Duration lease) {}

  private final Metrics metrics;
  private final Duration usual;
  private final Cache<Lease, Held> held =
      Caffeine.newBuilder()
          .maximumSize(MOST)
          .expireAfter(Expiry.<Lease, Held>writing((attempt, each) -> each.lease()))
          .build();

  // A completion that is sent again is accepted again.
  private final Cache<Lease, Boolean> retried =
      Caffeine.newBuilder().maximumSize(MOST).expireAfterWrite(REPEATED_WITHIN).build();

  /**
   * @param usual how long a lease lasts whose claim another server has answered
   */
  public RemoteAttempts(Metrics metrics, Duration usual) {
    this.metrics = metrics;
    this.usual = usual;
    metrics.gauge(Metrics.INFLIGHT, this::count);
  }

  private long count() {
    held.cleanUp();
    return held.estimatedSize();
  }

  public void claimed(Collection<LeasedJob> jobs, Duration lease) {
    long now = System.nanoTime();
    for (LeasedJob job : jobs) {
      held.put(job.lease(), new Held(now, lease));
      metrics.time(Metrics.QUEUE_WAIT, job.queueWait());
    }
  }

  /** Its lease was extended; not by a heartbeat, if the worker has only begun. */
  void begun(Lease attempt) {
    Held known = held.getIfPresent(attempt);
    held.put(attempt, known == null ? new Held(System.nanoTime(), usual) : known);
  }

  void beat(Lease attempt) {
    metrics.count(Metrics.HEARTBEATS, 1);
    begun(attempt);
  }

  /** It was lost, given back or not delivered. */
  public void gone(Lease attempt) {
    held.invalidate(attempt);
  }

  /**
   * Its end was accepted.
   *
   * @param again whether the job goes on with another attempt
   */
  public void ended(Settlement settlement, boolean again) {
    Lease attempt = settlement.lease();
    Held known = held.asMap().remove(attempt);
    if (known != null) {
      metrics.time(Metrics.RUN_TIME, Duration.ofNanos(System.nanoTime() - known.since()));
    }
    if (again
        && settlement instanceof Settlement.Fail fail
        && retried.asMap().putIfAbsent(attempt, true) == null) {
      metrics.count(Metrics.RETRIES, "code", fail.failure().code(), 1);
    }
  }
}
