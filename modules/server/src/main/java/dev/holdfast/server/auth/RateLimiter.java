package dev.holdfast.server.auth;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** So many requests a second for each key, with a second's worth saved up at most. */
final class RateLimiter {
  private static final int MOST_KEYS = 10_000;

  private static final class Bucket {
    double tokens;
    long at;

    Bucket(double tokens, long at) {
      this.tokens = tokens;
      this.at = at;
    }
  }

  private final int perSecond;
  private final LongSupplier nanos;
  private final Map<String, Bucket> buckets =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
          return size() > MOST_KEYS;
        }
      };

  /**
   * @param perSecond 0 is no limit
   */
  RateLimiter(int perSecond, LongSupplier nanos) {
    this.perSecond = perSecond;
    this.nanos = nanos;
  }

  synchronized boolean allows(String key) {
    if (perSecond == 0) {
      return true;
    }
    long now = nanos.getAsLong();
    Bucket bucket = buckets.computeIfAbsent(key, k -> new Bucket(perSecond, now));
    bucket.tokens = Math.min(perSecond, bucket.tokens + (now - bucket.at) / 1e9 * perSecond);
    bucket.at = now;
    if (bucket.tokens < 1) {
      return false;
    }
    bucket.tokens -= 1;
    return true;
  }
}
