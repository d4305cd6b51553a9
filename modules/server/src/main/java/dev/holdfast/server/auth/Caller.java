package dev.holdfast.server.auth;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.http.Problem;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who asks.
 *
 * @param key the id of the key that was shown; on a server without keys, nobody's
 * @param name that of the key, for people
 * @param until when his session at the page ends; null for who shows the key itself
 */
public record Caller(String key, String name, Role role, String tenant, @Nullable Instant until) {
  /** On loopback, while there are no keys, everybody may do everything. */
  public static final Caller OWNER = new Caller("", "local", Role.ADMIN, ApiKey.EVERY_TENANT, null);

  public boolean seesEveryTenant() {
    return tenant.equals(ApiKey.EVERY_TENANT);
  }

  public boolean sees(String jobTenant) {
    return seesEveryTenant() || tenant.equals(jobTenant);
  }

  /** For queries: null is no limit. */
  public @Nullable String onlyTenant() {
    return seesEveryTenant() ? null : tenant;
  }

  /** Queues, schedules and limits belong to all tenants together. */
  public void mustSeeEveryTenant(String what) {
    if (!seesEveryTenant()) {
      throw new Problem(
          403, "forbidden", what + " concerns every tenant: a key for all of them is needed");
    }
  }
}
