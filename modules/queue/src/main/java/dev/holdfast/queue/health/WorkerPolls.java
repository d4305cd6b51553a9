package dev.holdfast.queue.health;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Which workers ask servers for jobs. They are known by it while they hold none. */
public final class WorkerPolls {
  private static final int MOST = 1_000;

  /**
   * A worker asks for the jobs of a queue.
   *
   * @param versions of kinds that it has, if it says so
   * @param expires when it is gone unless it asks again
   */
  public record Poll(
      String worker, String queue, Tenant tenant, List<KindVersion> versions, Duration expires) {
    public Poll(String worker, String queue, Tenant tenant, Duration expires) {
      this(worker, queue, tenant, List.of(), expires);
    }
  }

  // In a fixed order, or two servers that write the same rows deadlock.
  private static final Sql WRITE =
      Sql.of(
          """
          WITH old AS (
            DELETE FROM holdfast.worker_poll WHERE expires_at < clock_timestamp() - interval '5 minutes'
          )
          INSERT INTO holdfast.worker_poll AS p
                 (worker_id, queue, tenant, versions, asked_at, expires_at)
          -- No kind has a comma in its name.
          SELECT n.worker, n.queue, nullif(n.tenant, ''),
                 coalesce(string_to_array(string_agg(nullif(n.versions, ''), ','), ','), '{}'),
                 clock_timestamp(),
                 clock_timestamp() + max(n.ms::bigint) * interval '1 millisecond'
            FROM unnest(:workers::text[], :queues::text[], :tenants::text[], :versions::text[],
                        :expires::text[]) AS n(worker, queue, tenant, versions, ms)
           GROUP BY n.worker, n.queue, n.tenant
           ORDER BY n.worker, n.queue, n.tenant
          ON CONFLICT (worker_id, queue, coalesce(tenant, ''))
          DO UPDATE SET asked_at = excluded.asked_at, expires_at = excluded.expires_at,
                        -- A worker that waits for a queue to have jobs does not say them.
                        versions = CASE WHEN excluded.versions = '{}' THEN p.versions
                                        ELSE excluded.versions END
          """);

  private static final Sql LIVE =
      Sql.of(
          """
          SELECT worker_id, max(asked_at) AS asked_at, string_agg(DISTINCT queue, ',' ORDER BY queue) AS queues
            FROM holdfast.worker_poll p
           WHERE expires_at > clock_timestamp() AND ${tenant}
           GROUP BY worker_id
           ORDER BY worker_id
           LIMIT :most
          """,
          "tenant",
          TenantSql.isOf("p"));

  private final Database database;

  WorkerPolls(Database database) {
    this.database = database;
  }

  public void write(Collection<Poll> polls) {
    List<Poll> all = List.copyOf(polls);
    if (!all.isEmpty()) {
      database.run(
          "polls",
          connection ->
              WRITE
                  .on(connection)
                  .array("workers", "text", all, Poll::worker)
                  .array("queues", "text", all, Poll::queue)
                  .array("tenants", "text", all, poll -> poll.tenant().name())
                  .array(
                      "versions",
                      "text",
                      all,
                      poll ->
                          poll.versions().stream()
                              .map(ClaimableSql::served)
                              .collect(Collectors.joining(",")))
                  .array("expires", "text", all, poll -> Long.toString(poll.expires().toMillis()))
                  .update());
    }
  }

  /** Workers that have not gone; of a tenant, those that ask for its jobs alone. */
  public List<Poller> live(Tenant tenant) {
    return database.run(
        "polls",
        connection ->
            LIVE.on(connection)
                .tenant(tenant)
                .set("most", MOST)
                .list(
                    row ->
                        new Poller(
                            row.getString("worker_id"),
                            // No queue has a comma in its name.
                            List.of(row.getString("queues").split(",")),
                            Rows.instant(row, "asked_at"))));
  }
}
