package dev.holdfast.queue.notice;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Writes a notice for each question that is asked and has none, and marks the question in its job's
 * row. So a look for new ones finds an empty index, however many questions are open, and of several
 * servers one writes the notice. A job that asks again writes its wait anew, without the mark.
 */
public final class WriteNotices {
  private static final Sql SQL =
      Sql.of(
          """
          WITH asked AS MATERIALIZED (
            SELECT j.id
              FROM holdfast.job j
             WHERE j.wait_sort = 'APPROVAL' AND (j.wait -> 'noticed') IS NULL
             ORDER BY j.id
             LIMIT :most
               FOR NO KEY UPDATE SKIP LOCKED
          ), marked AS (
            UPDATE holdfast.job j SET wait = j.wait || '{"noticed": true}'
              FROM asked a
             WHERE j.id = a.id AND j.wait_sort = 'APPROVAL' AND (j.wait -> 'noticed') IS NULL
            RETURNING j.id, j.wait
          )
          INSERT INTO holdfast.notice
                 (id, job_id, wait_id, asked_at, created_at, state, next_try_at, give_up_at)
          SELECT gen_random_uuid(), m.id, m.wait ->> 'id', (m.wait ->> 'since')::timestamptz,
                 clock_timestamp(), 'PENDING', clock_timestamp(),
                 clock_timestamp() + :triedFor * interval '1 millisecond'
            FROM marked m
          ON CONFLICT ON CONSTRAINT notice_once DO NOTHING
          """);

  private WriteNotices() {}

  /** How many were written. */
  public static int of(Connection connection, int most) throws SQLException {
    return SQL.on(connection).set("most", most).set("triedFor", Notice.TRIED_FOR).update();
  }
}
