package dev.holdfast.server.auth;

import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.http.Problem;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The authenticated caller of a request.
 *
 * @param key the id of the API key; empty on a server without keys
 * @param name the key's name
 * @param until the end of the page's session; null if the request has the key itself
 */
public record Caller(String key, String name, Role role, String tenant, @Nullable Instant until) {
  /** Every caller on loopback, while there are no keys. */
  public static final Caller OWNER = new Caller("", "local", Role.ADMIN, ApiKey.EVERY_TENANT, null);

  public boolean seesEveryTenant() {
    return tenant.equals(ApiKey.EVERY_TENANT);
  }

  public boolean sees(String jobTenant) {
    return seesEveryTenant() || tenant.equals(jobTenant);
  }

  /** The tenant to limit queries to; null is all of them. */
  public @Nullable String onlyTenant() {
    return seesEveryTenant() ? null : tenant;
  }

  /** For what all tenants share: queues, schedules, limits. */
  public void mustSeeEveryTenant(String what) {
    if (!seesEveryTenant()) {
      throw new Problem(
          403, "forbidden", what + " concerns every tenant: a key for all of them is needed");
    }
  }
}
