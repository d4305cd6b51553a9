package dev.holdfast.queue.notice;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import dev.holdfast.queue.wait.ReadQuestion;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Lists notices, and counts those that an operator should know of. */
public final class ReadNotices {
  private static final Sql LIST =
      Sql.of(
          """
          SELECT n.id, n.job_id, j.kind, j.tenant, n.wait_id, n.asked_at, n.state, n.attempts,
                 n.created_at, n.next_try_at, n.last_status, n.last_error, n.ended_at
            FROM holdfast.notice n JOIN holdfast.job j ON j.id = n.job_id
           WHERE ${tenant} AND (:state = '' OR n.state = :state)
           ORDER BY n.created_at DESC, n.id DESC
           LIMIT :most
          """,
          "tenant",
          TenantSql.isOf("j"));

  private static final Sql TROUBLE =
      Sql.of(
          """
          WITH failing AS (
            SELECT n.last_error, n.attempts
              FROM (SELECT n.job_id, n.wait_id, n.asked_at, n.last_error, n.attempts
                      FROM holdfast.notice n
                     WHERE n.state = 'PENDING' AND n.attempts >= :often
                       AND n.last_error IS NOT NULL
                     LIMIT 10000) AS n
              JOIN holdfast.job j ON j.id = n.job_id
             WHERE ${asks}
          )
          SELECT (SELECT count(*) FROM failing) AS failing,
                 (SELECT last_error FROM failing ORDER BY attempts DESC LIMIT 1) AS reason,
                 (SELECT count(*)
                    FROM (SELECT n.job_id, n.wait_id, n.asked_at
                            FROM holdfast.notice n
                           WHERE n.state = 'GIVEN_UP' LIMIT 10000) AS n
                    JOIN holdfast.job j ON j.id = n.job_id
                   WHERE ${asks}) AS given_up
          """,
          "asks",
          ReadQuestion.asks("j", "n.wait_id", "n.asked_at"));

  /** The first tries may meet a receiver that is being restarted. */
  private static final int OFTEN = 3;

  private ReadNotices() {}

  /** The newest first. */
  public static List<Notice> list(
      Connection connection, Notice.@Nullable State state, Tenant tenant, int most)
      throws SQLException {
    return LIST.on(connection)
        .set("state", state == null ? "" : state.name())
        .tenant(tenant)
        .set("most", most)
        .list(
            row ->
                new Notice(
                    row.getObject("id", UUID.class),
                    Rows.id(row, "job_id"),
                    row.getString("kind"),
                    row.getString("tenant"),
                    row.getString("wait_id"),
                    Rows.instant(row, "asked_at"),
                    Notice.State.valueOf(row.getString("state")),
                    row.getInt("attempts"),
                    Rows.instant(row, "created_at"),
                    Rows.instantOrNull(row, "next_try_at"),
                    Rows.intOrNull(row, "last_status"),
                    row.getString("last_error"),
                    Rows.instantOrNull(row, "ended_at")));
  }

  public static Notice.Trouble trouble(Connection connection) throws SQLException {
    return TROUBLE
        .on(connection)
        .set("often", OFTEN)
        .only(
            row ->
                new Notice.Trouble(
                    row.getLong("failing"), row.getString("reason"), row.getLong("given_up")));
  }
}
