package dev.holdfast.queue.notice;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import dev.holdfast.queue.wait.ReadQuestion;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

/** Makes a notice due, whatever has become of it, while its question is asked. */
public final class SendAgain {
  private static final Sql LOCK =
      Sql.of(
          """
          SELECT ${asks} AS asks
            FROM holdfast.notice n JOIN holdfast.job j ON j.id = n.job_id
           WHERE n.id = :id AND ${tenant}
             FOR UPDATE OF n
          """,
          "asks",
          ReadQuestion.asks("j", "n.wait_id", "n.asked_at"),
          "tenant",
          TenantSql.isOf("j"));

  private static final Sql DUE =
      Sql.of(
          """
          UPDATE holdfast.notice
             SET state = 'PENDING', next_try_at = clock_timestamp(), ended_at = NULL,
                 give_up_at = clock_timestamp() + :triedFor * interval '1 millisecond'
           WHERE id = :id
          """);

  private SendAgain() {}

  /** In one transaction. */
  public static Notice.Again of(Connection connection, UUID id, Tenant tenant) throws SQLException {
    Optional<Boolean> asks =
        LOCK.on(connection).set("id", id).tenant(tenant).first(row -> row.getBoolean("asks"));
    if (asks.isEmpty()) {
      return Notice.Again.NO_SUCH_NOTICE;
    }
    if (!asks.get()) {
      return Notice.Again.SUPERSEDED;
    }
    DUE.on(connection).set("id", id).set("triedFor", Notice.TRIED_FOR).update();
    return Notice.Again.ACCEPTED;
  }
}
