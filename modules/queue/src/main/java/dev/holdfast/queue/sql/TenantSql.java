package dev.holdfast.queue.sql;

import dev.holdfast.queue.jdbc.Sql;

/** The condition that a row belongs to a tenant; {@link Sql.Call#tenant} binds its parameter. */
public final class TenantSql {
  private TenantSql() {}

  /**
   * @param row the alias of the row; {@code :tenant} is empty for all tenants
   */
  public static String isOf(String row) {
    return "(:tenant = '' OR %s)".formatted(isOfOne(row));
  }

  /**
   * For statements that always name a tenant: only a plain condition is looked up in an index.
   *
   * @param row the alias of the row
   */
  public static String isOfOne(String row) {
    return "%s.tenant = :tenant".formatted(row);
  }
}
