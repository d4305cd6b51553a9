package dev.holdfast.model.ops;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An API key, without its secret.
 *
 * @param tenant the tenant whose jobs it sees; null is all tenants
 */
public record ApiKey(
    String id,
    String name,
    Role role,
    @Nullable String tenant,
    Instant createdAt,
    @Nullable Instant expiresAt,
    @Nullable Instant revokedAt) {
  /** The longest time that a key with an end may live. */
  public static final Duration LONGEST_LIFE = Duration.ofDays(3_650);

  /** The longest time that a key may still be used after it was rotated. */
  public static final Duration LONGEST_OVERLAP = Duration.ofDays(30);

  public static String checkedName(String name) {
    return Limits.key("name", name);
  }

  /** Null is all tenants. */
  public static @Nullable String checkedTenant(@Nullable String tenant) {
    return tenant == null ? null : Limits.word("tenant", tenant);
  }

  /** Null is for ever. */
  public static @Nullable Duration checkedLifetime(@Nullable Duration lifetime) {
    if (lifetime != null
        && (lifetime.compareTo(Duration.ofMillis(1)) < 0 || lifetime.compareTo(LONGEST_LIFE) > 0)) {
      throw new RefusedException(
          Refusal.BAD_TIMING, "the lifetime of a key must be between 1 ms and 3650 days");
    }
    return lifetime;
  }

  public static Duration checkedOverlap(Duration overlap) {
    if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0) {
      throw new RefusedException(
          Refusal.BAD_TIMING, "the overlap of two keys must be between 0 and 30 days");
    }
    return overlap;
  }
}
