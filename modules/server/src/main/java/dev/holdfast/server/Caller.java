package dev.holdfast.server;

import dev.holdfast.model.ApiKey;
import dev.holdfast.model.Role;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who asks.
 *
 * @param key the id of the key that was shown; on a server without keys, nobody's
 * @param name that of the key, for people
 * @param until when his session at the page ends; null for who shows the key itself
 */
record Caller(String key, String name, Role role, String tenant, @Nullable Instant until) {
  /** On loopback, while there are no keys, everybody may do everything. */
  static final Caller OWNER = new Caller("", "local", Role.ADMIN, ApiKey.EVERY_TENANT, null);

  boolean seesEveryTenant() {
    return tenant.equals(ApiKey.EVERY_TENANT);
  }

  boolean sees(String jobTenant) {
    return seesEveryTenant() || tenant.equals(jobTenant);
  }

  /** For queries: null is no limit. */
  @Nullable String onlyTenant() {
    return seesEveryTenant() ? null : tenant;
  }

  /** Queues, schedules and limits belong to all tenants together. */
  void mustSeeEveryTenant(String what) {
    if (!seesEveryTenant()) {
      throw new Problem(
          403, "forbidden", what + " concerns every tenant: a key for all of them is needed");
    }
  }
}
