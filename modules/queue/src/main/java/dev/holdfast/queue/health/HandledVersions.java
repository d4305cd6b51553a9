package dev.holdfast.queue.health;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.ops.UnservedVersion;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/**
 * Which versions of kinds live workers have: those on the database announce them, those over HTTP
 * name them with each claim. Jobs that have begun with another wait for a worker that has it.
 */
public final class HandledVersions {
  // In a fixed order, as in HandledKinds.
  private static final Sql ANNOUNCE =
      Sql.of(
          """
          WITH old AS (
            DELETE FROM holdfast.handled_version
             WHERE seen_at < clock_timestamp() - interval '30 days'
          )
          INSERT INTO holdfast.handled_version AS v (queue, kind, version, seen_at)
          SELECT q.queue, n.kind, n.version, clock_timestamp()
            FROM unnest(:queues::text[]) AS q(queue)
           CROSS JOIN unnest(:kinds::text[], :versions::int2[]) AS n(kind, version)
           ORDER BY q.queue, n.kind, n.version
          ON CONFLICT (queue, kind, version) DO UPDATE SET seen_at = excluded.seen_at
           WHERE v.seen_at < excluded.seen_at - interval '20 seconds'
          """);

  // A loose scan of the index: of each version, however many jobs have it, the first entry is read,
  // and only those of a version that nobody has are counted, up to a bound.
  private static final Sql UNSERVED =
      Sql.of(
          """
          WITH RECURSIVE known(queue, kind, version, n) AS (
            (SELECT j.queue, j.kind, j.version, 1 FROM holdfast.job j
              WHERE ${begun} ORDER BY j.queue, j.kind, j.version LIMIT 1)
            UNION ALL
            SELECT next.queue, next.kind, next.version, known.n + 1
              FROM known
             CROSS JOIN LATERAL (
               SELECT j.queue, j.kind, j.version FROM holdfast.job j
                WHERE ${begun}
                  AND (j.queue, j.kind, j.version) > (known.queue, known.kind, known.version)
                ORDER BY j.queue, j.kind, j.version LIMIT 1) AS next
             WHERE known.n < 1000
          )
          SELECT known.queue, known.kind, known.version, counted.jobs,
                 greatest(seen.at, counted.started_at) AS since
            FROM known
            LEFT JOIN LATERAL (
              SELECT max(v.seen_at) AS at FROM holdfast.handled_version v
               WHERE v.queue = known.queue AND v.kind = known.kind
                 AND v.version = known.version) AS seen ON true
           CROSS JOIN LATERAL (
             SELECT count(*) AS jobs, max(coalesce(first.started_at, first.created_at)) AS started_at
               FROM (SELECT j.started_at, j.created_at FROM holdfast.job j
                      WHERE ${begun} AND ${tenant} AND j.queue = known.queue
                        AND j.kind = known.kind AND j.version = known.version
                      LIMIT 10000) AS first) AS counted
           WHERE counted.jobs > 0
             AND (seen.at IS NULL OR seen.at < clock_timestamp() - interval '2 minutes')
             AND NOT EXISTS (
               SELECT FROM holdfast.worker_poll p
                WHERE p.queue = known.queue AND p.expires_at > clock_timestamp()
                  AND known.version || ' ' || known.kind = ANY (p.versions))
           ORDER BY counted.jobs DESC, known.queue, known.kind, known.version
           LIMIT 20
          """,
          "begun",
          "j.version > 0 AND j.finished_at IS NULL",
          "tenant",
          TenantSql.isOf("j"));

  private HandledVersions() {}

  public static void announce(
      Connection connection, Collection<String> queues, List<KindVersion> versions)
      throws SQLException {
    ANNOUNCE
        .on(connection)
        .array("queues", "text", queues.stream().distinct().toList(), name -> name)
        .array("kinds", "text", versions, KindVersion::kind)
        .array("versions", "int2", versions, KindVersion::version)
        .update();
  }

  /** Versions that jobs have begun with, and no live worker has. */
  public static List<UnservedVersion> unserved(Connection connection, Tenant tenant)
      throws SQLException {
    return UNSERVED
        .on(connection)
        .tenant(tenant)
        .list(
            row ->
                new UnservedVersion(
                    row.getString("queue"),
                    row.getString("kind"),
                    row.getInt("version"),
                    row.getLong("jobs"),
                    Rows.instant(row, "since")));
  }
}
