package dev.holdfast.model.ops;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A key that opens the API, without the secret in it.
 *
 * @param tenant whose jobs it sees; {@value #EVERY_TENANT} is everybody's
 */
public record ApiKey(
    String id,
    String name,
    Role role,
    String tenant,
    Instant createdAt,
    @Nullable Instant expiresAt,
    @Nullable Instant revokedAt) {
  public static final String EVERY_TENANT = "*";
}
