package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;

/**
 * The due jobs of a queue without rules, by priority and age. Each priority is walked by itself
 * (equalities plus a range), so that delayed jobs of a high priority are not walked over on the way
 * to a due one.
 */
final class PickSql {
  private PickSql() {}

  /**
   * @param columns of {@code job j}
   * @param lock of its rows, or nothing
   */
  static String of(String columns, String lock) {
    return Sql.fragment(
        """
        SELECT pick.*
          FROM unnest(:from::float8[]) WITH ORDINALITY AS lane(start, number)
         CROSS JOIN LATERAL (
           SELECT ${columns}
             FROM holdfast.job j
            WHERE j.queue = :queue AND j.priority = (lane.number - 1)::smallint
              AND ${withoutRules} AND ${tenant} AND ${inNoBatch} AND ${served}
              AND j.run_at >= to_timestamp(lane.start) AND j.run_at <= statement_timestamp()
            ORDER BY j.run_at, j.id
            LIMIT :most
              ${lock}) AS pick
         WHERE ${readCommitted} AND NOT ${paused} AND NOT ${rules} AND NOT ${reserved}
         LIMIT :most
        """,
        "columns",
        columns,
        "withoutRules",
        ClaimableSql.isWithoutRules("j"),
        "tenant",
        TenantSql.isOf("j"),
        "inNoBatch",
        BatchSql.isInNoBatch("j"),
        "served",
        ClaimableSql.isServed("j"),
        "lock",
        lock,
        "readCommitted",
        BatchSql.IS_READ_COMMITTED,
        "paused",
        ClaimableSql.isPaused(":queue"),
        "rules",
        ClaimableSql.hasRules(":queue"),
        "reserved",
        "(" + ClaimableSql.WORKER_IS_RESERVED.strip() + ")");
  }
}
