package dev.holdfast.server.auth;

import dev.holdfast.contract.operate.Principal;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The authenticated caller of a request.
 *
 * @param key the id of the API key; empty on a server without keys
 * @param name the key's name
 * @param until the end of the page's session; null if the request has the key itself
 */
public record Caller(String key, String name, Role role, Tenant tenant, @Nullable Instant until) {
  /** Every caller on loopback, while there are no keys. */
  public static final Caller OWNER = new Caller("", "local", Role.ADMIN, Tenant.ANY, null);

  public boolean seesEveryTenant() {
    return tenant.isAny();
  }

  public boolean sees(String jobTenant) {
    return tenant.includes(jobTenant);
  }

  /** For what all tenants share: queues, schedules, limits. */
  public void mustSeeEveryTenant(String what) {
    principal().mustSeeEveryTenant(what);
  }

  /** As an operator. */
  public Principal principal() {
    return new Principal(name, tenant, role);
  }
}
