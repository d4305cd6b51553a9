package dev.holdfast.server.auth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.function.LongSupplier;

/** A token bucket for each key, which holds the tokens of one second. */
public final class RateLimiter {
  private static final int MOST_KEYS = 10_000;

  private static final class Bucket {
    private double tokens;
    private long at;

    Bucket(double tokens, long at) {
      this.tokens = tokens;
      this.at = at;
    }

    synchronized boolean take(int perSecond, long now) {
      tokens = Math.min(perSecond, tokens + (now - at) / 1e9 * perSecond);
      at = now;
      if (tokens < 1) {
        return false;
      }
      tokens -= 1;
      return true;
    }
  }

  private final int perSecond;
  private final LongSupplier nanos;
  private final Cache<String, Bucket> buckets =
      Caffeine.newBuilder().maximumSize(MOST_KEYS).build();

  /**
   * @param perSecond 0 is no limit
   */
  public RateLimiter(int perSecond, LongSupplier nanos) {
    this.perSecond = perSecond;
    this.nanos = nanos;
  }

  public boolean allows(String key) {
    if (perSecond == 0) {
      return true;
    }
    long now = nanos.getAsLong();
    return buckets.get(key, unknown -> new Bucket(perSecond, now)).take(perSecond, now);
  }
}
