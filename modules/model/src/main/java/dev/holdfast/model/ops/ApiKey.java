package dev.holdfast.model.ops;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An API key, without its secret.
 *
 * @param tenant the tenant whose jobs it sees; {@value #EVERY_TENANT} is all tenants
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
