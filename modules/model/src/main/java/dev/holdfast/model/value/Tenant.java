package dev.holdfast.model.value;

import org.jspecify.annotations.Nullable;

/**
 * Whose jobs are meant: one tenant's, or those of any.
 *
 * @param name empty for any
 */
public record Tenant(String name) {
  public static final Tenant ANY = new Tenant("");

  /**
   * @param name null, as in a key for all tenants, is any; an empty one is a mistake, and not that
   */
  public static Tenant of(@Nullable String name) {
    if (name != null && name.isEmpty()) {
      throw new IllegalArgumentException("a tenant has a name");
    }
    return name == null ? ANY : new Tenant(name);
  }

  public boolean isAny() {
    return name.isEmpty();
  }

  public boolean includes(String tenant) {
    return isAny() || name.equals(tenant);
  }

  /** Null for any. */
  public @Nullable String nameOrNull() {
    return isAny() ? null : name;
  }
}
