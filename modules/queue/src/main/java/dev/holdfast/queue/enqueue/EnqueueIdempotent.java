package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Enqueues jobs under a key their sender chose, once. Sent again, they are answered as before; two
 * that come at the same moment wait for each other at the key's row.
 */
public final class EnqueueIdempotent {
  private static final String TAKE_KEY =
      """
      INSERT INTO holdfast.idempotency_key (tenant, key, digest, submitted_at)
      VALUES (?, ?, ?, clock_timestamp())
      ON CONFLICT (tenant, key) DO NOTHING
      """;

  private static final String ANSWER =
      """
      UPDATE holdfast.idempotency_key
         SET answer = (SELECT jsonb_agg(jsonb_build_array(a.id, a.duplicate) ORDER BY a.number)
                         FROM unnest(?::uuid[], ?::bool[]) WITH ORDINALITY AS a(id, duplicate, number))
       WHERE tenant = ? AND key = ?
      """;

  private static final String BEFORE =
      """
      SELECT s.digest, (a.value ->> 0)::uuid AS id, (a.value ->> 1)::bool AS duplicate
        FROM holdfast.idempotency_key s
       CROSS JOIN LATERAL jsonb_array_elements(s.answer) WITH ORDINALITY AS a(value, number)
       WHERE s.tenant = ? AND s.key = ?
       ORDER BY a.number
      """;

  // statement_timestamp(): no index can be searched for a value that changes while it is read.
  private static final String FORGET =
      """
      DELETE FROM holdfast.idempotency_key
       WHERE submitted_at < statement_timestamp() - ? * interval '1 millisecond'
      """;

  private record Answered(String digest, Enqueued enqueued) {}

  private EnqueueIdempotent() {}

  public static List<Enqueued> once(
      Connection connection,
      Enqueue enqueue,
      String tenant,
      String key,
      String digest,
      List<Job> jobs)
      throws SQLException {
    if (Rows.update(connection, TAKE_KEY, tenant, key, digest) == 0) {
      return before(connection, tenant, key, digest);
    }
    List<Enqueued> enqueued = enqueue.all(connection, jobs);
    Rows.update(
        connection,
        ANSWER,
        Rows.array(connection, "uuid", enqueued, Enqueued::id),
        Rows.array(connection, "bool", enqueued, Enqueued::duplicate),
        tenant,
        key);
    return enqueued;
  }

  private static List<Enqueued> before(
      Connection connection, String tenant, String key, String digest) throws SQLException {
    List<Answered> answered =
        Rows.list(
            connection,
            row ->
                new Answered(
                    row.getString("digest"),
                    new Enqueued(Rows.id(row, "id"), row.getBoolean("duplicate"))),
            BEFORE,
            tenant,
            key);
    List<Enqueued> enqueued = new ArrayList<>();
    for (Answered each : answered) {
      if (!each.digest().equals(digest)) {
        throw new RefusedException(
            Refusal.KEY_REUSED,
            "this idempotency key was used for another submission: choose a key for each");
      }
      enqueued.add(each.enqueued());
    }
    return enqueued;
  }

  public static int forget(Connection connection, Duration olderThan) throws SQLException {
    return Rows.update(connection, FORGET, olderThan);
  }
}
