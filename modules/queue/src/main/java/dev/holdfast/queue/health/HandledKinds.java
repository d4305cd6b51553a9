package dev.holdfast.queue.health;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * Which kinds live workers have handlers for. During a rolling deployment some know a new kind and
 * some do not yet; a job is failed for want of a handler only when none of them does.
 */
public final class HandledKinds {
  // In a fixed order, or two workers that announce the same kinds deadlock. A row that was written
  // a moment ago is not written again.
  private static final Sql ANNOUNCE =
      Sql.of(
          """
      WITH old AS (
        DELETE FROM holdfast.handled_kind WHERE seen_at < clock_timestamp() - interval '30 days'
      )
      INSERT INTO holdfast.handled_kind AS k (queue, kind, seen_at)
      SELECT q.queue, n.kind, clock_timestamp()
        FROM unnest(:queues::text[]) AS q(queue) CROSS JOIN unnest(:kinds::text[]) AS n(kind)
       ORDER BY q.queue, n.kind
      ON CONFLICT (queue, kind) DO UPDATE SET seen_at = excluded.seen_at
       WHERE k.seen_at < excluded.seen_at - interval '20 seconds'
      """);

  // The time runs from the first attempt: before that no worker has met it. Workers announce
  // every half minute, so that one that announced two minutes ago may still be there.
  private static final Sql MAY_HAVE_HANDLER =
      Sql.of(
          """
      SELECT coalesce((SELECT min(a.started_at) FROM holdfast.attempt a WHERE a.job_id = j.id),
                      j.started_at) + :timeout * interval '1 millisecond' > clock_timestamp()
             OR (SELECT k.seen_at FROM holdfast.handled_kind k
                  WHERE k.queue = j.queue AND k.kind = j.kind)
                + greatest(:timeout * interval '1 millisecond', interval '2 minutes') > clock_timestamp()
             AS may_have_handler
        FROM holdfast.job j
       WHERE j.id = :job
      """);

  // Only jobs that a worker has claimed and left for others, as attempt says: workers over HTTP do
  // not announce their kinds. Each part has the condition of an index, and an end.
  private static final Sql UNHANDLED =
      Sql.of(
          """
          SELECT left_over.queue, left_over.kind, count(*) AS jobs
            FROM ((SELECT j.queue, j.kind, j.attempt FROM holdfast.job j
                    WHERE ${withoutRules} AND ${tenant} LIMIT 10000)
                  UNION ALL
                  (SELECT j.queue, j.kind, j.attempt FROM holdfast.job j
                    WHERE ${keyed} AND ${tenant} LIMIT 10000)) AS left_over
           WHERE left_over.attempt > 0
             AND EXISTS (SELECT FROM holdfast.handled_kind k
                          WHERE k.queue = left_over.queue AND ${live})
             AND NOT EXISTS (SELECT FROM holdfast.handled_kind k
                              WHERE k.queue = left_over.queue AND k.kind = left_over.kind
                                AND ${live})
             AND NOT EXISTS (SELECT FROM holdfast.job r
                              WHERE r.queue = left_over.queue AND r.state = 'RUNNING'
                                AND r.kind = left_over.kind)
           GROUP BY left_over.queue, left_over.kind
           ORDER BY jobs DESC, left_over.queue, left_over.kind
           LIMIT 20
          """,
          "withoutRules",
          ClaimableSql.isWithoutRules("j"),
          "keyed",
          ClaimableSql.isKeyed("j"),
          "tenant",
          TenantSql.isOf("j"),
          "live",
          "k.seen_at > clock_timestamp() - interval '2 minutes'");

  private HandledKinds() {}

  /** Kinds whose jobs a worker left for others, while no live worker handles them. */
  public static List<UnhandledKind> unhandled(Connection connection, Tenant tenant)
      throws SQLException {
    return UNHANDLED
        .on(connection)
        .tenant(tenant)
        .list(
            row ->
                new UnhandledKind(
                    row.getString("queue"), row.getString("kind"), row.getLong("jobs")));
  }

  public static void announce(
      Connection connection, Collection<String> queues, Collection<String> kinds)
      throws SQLException {
    ANNOUNCE
        .on(connection)
        .array("queues", "text", queues.stream().distinct().toList(), name -> name)
        .array("kinds", "text", kinds.stream().distinct().toList(), name -> name)
        .update();
  }

  public static boolean mayHaveHandler(Connection connection, JobId job, Duration timeout)
      throws SQLException {
    return MAY_HAVE_HANDLER
        .on(connection)
        .set("timeout", timeout)
        .set("job", job)
        .first(row -> row.getBoolean("may_have_handler"))
        .orElse(false);
  }
}
