package dev.holdfast.contract.operate;

import org.jspecify.annotations.Nullable;

/**
 * Who operates.
 *
 * @param name kept with pauses and commands: of the API key, or of the user on the database
 * @param tenant the only tenant whose jobs may be seen and changed; null is all of them
 */
public record Principal(String name, @Nullable String tenant) {
  public boolean seesEveryTenant() {
    return tenant == null;
  }

  public boolean sees(String jobTenant) {
    return tenant == null || tenant.equals(jobTenant);
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
