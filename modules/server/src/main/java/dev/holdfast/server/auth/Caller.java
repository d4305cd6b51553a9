package dev.holdfast.server.auth;

import dev.holdfast.contract.operate.Principal;
import dev.holdfast.model.ops.Role;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The authenticated caller of a request.
 *
 * @param key the id of the API key; empty on a server without keys
 * @param name the key's name
 * @param tenant the only tenant that it sees; null is all of them
 * @param until the end of the page's session; null if the request has the key itself
 */
public record Caller(
    String key, String name, Role role, @Nullable String tenant, @Nullable Instant until) {
  /** Every caller on loopback, while there are no keys. */
  public static final Caller OWNER = new Caller("", "local", Role.ADMIN, null, null);

  public boolean seesEveryTenant() {
    return tenant == null;
  }

  public boolean sees(String jobTenant) {
    return tenant == null || tenant.equals(jobTenant);
  }

  /** For what all tenants share: queues, schedules, limits. */
  public void mustSeeEveryTenant(String what) {
    principal().mustSeeEveryTenant(what);
  }

  /** As an operator. */
  public Principal principal() {
    return new Principal(name, tenant);
  }
}
