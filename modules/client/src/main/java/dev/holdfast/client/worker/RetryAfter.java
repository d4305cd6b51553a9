package dev.holdfast.client.worker;

import dev.holdfast.client.http.ServerException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Which calls the server asked to make later, by {@code Retry-After}. Until then they fail here and
 * are not sent: a caller that repeats a call has its own pauses, which ignore the server's. Calls
 * to other paths are not affected, so that heartbeats do not wait for claims.
 */
final class RetryAfter {
  /** A proxy may ask for any time, and a worker must notice within some time that it is over. */
  private static final Duration LONGEST = Duration.ofMinutes(1);

  private record Asked(long untilNanos, ServerException why) {}

  private final Map<String, Asked> asked = new ConcurrentHashMap<>();
  private final LongSupplier nanos;

  RetryAfter(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** Throws if it is too early to make this call again. */
  void check(String path) {
    Asked before = asked.get(route(path));
    if (before == null) {
      return;
    }
    if (before.untilNanos() - nanos.getAsLong() > 0) {
      throw new SourceUnavailableException(String.valueOf(before.why().getMessage()), before.why());
    }
    asked.remove(route(path), before);
  }

  void later(String path, Duration pause, ServerException why) {
    Duration atMost = pause.compareTo(LONGEST) < 0 ? pause : LONGEST;
    asked.put(route(path), new Asked(nanos.getAsLong() + atMost.toNanos(), why));
  }

  /** Without the query, which names a job: there are few routes, and many jobs. */
  private static String route(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }
}
