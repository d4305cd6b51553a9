package dev.holdfast.contract.operate;

import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;

/**
 * Who operates.
 *
 * @param name kept with pauses and commands: of the API key, or of the user on the database
 * @param role who decides what jobs ask
 */
public record Principal(String name, Tenant tenant, Role role) {
  public boolean seesEveryTenant() {
    return tenant.isAny();
  }

  public boolean sees(String jobTenant) {
    return tenant.includes(jobTenant);
  }

  /** For what all tenants share: queues, schedules, limits. */
  public void mustSeeEveryTenant(String what) {
    if (!seesEveryTenant()) {
      throw new OperatorException(
          OperatorException.Reason.FORBIDDEN,
          what + " concerns every tenant: a key for all of them is needed");
    }
  }
}
