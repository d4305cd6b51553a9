package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
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
  private static final Sql TAKE_KEY =
      Sql.of(
          """
          INSERT INTO holdfast.idempotency_key (scope, key, digest, submitted_at)
          VALUES (:scope, :key, :digest, clock_timestamp())
          ON CONFLICT (scope, key) DO NOTHING
          """);

  private static final Sql ANSWER =
      Sql.of(
          """
          UPDATE holdfast.idempotency_key
             SET response =
                   (SELECT jsonb_agg(jsonb_build_array(a.id, a.duplicate) ORDER BY a.number)
                      FROM unnest(:jobs::uuid[], :duplicates::bool[])
                             WITH ORDINALITY AS a(id, duplicate, number))
           WHERE scope = :scope AND key = :key
          """);

  private static final Sql BEFORE =
      Sql.of(
          """
          SELECT s.digest, (a.value ->> 0)::uuid AS id, (a.value ->> 1)::bool AS duplicate
            FROM holdfast.idempotency_key s
           CROSS JOIN LATERAL jsonb_array_elements(s.response) WITH ORDINALITY AS a(value, number)
           WHERE scope = :scope AND key = :key
           ORDER BY a.number
          """);

  // statement_timestamp(): no index can be searched for a value that changes while it is read.
  private static final Sql FORGET =
      Sql.of(
          """
          DELETE FROM holdfast.idempotency_key
           WHERE submitted_at < statement_timestamp() - :age * interval '1 millisecond'
          """);

  private record Answered(String digest, Enqueued enqueued) {}

  private EnqueueIdempotent() {}

  public static List<Enqueued> once(
      Connection connection,
      Enqueue enqueue,
      String scope,
      String key,
      String digest,
      List<Job> jobs)
      throws SQLException {
    int taken =
        TAKE_KEY.on(connection).set("scope", scope).set("key", key).set("digest", digest).update();
    if (taken == 0) {
      return before(connection, scope, key, digest);
    }
    List<Enqueued> enqueued = enqueue.all(connection, jobs);
    ANSWER
        .on(connection)
        .array("jobs", "uuid", enqueued, Enqueued::id)
        .array("duplicates", "bool", enqueued, Enqueued::duplicate)
        .set("scope", scope)
        .set("key", key)
        .update();
    return enqueued;
  }

  private static List<Enqueued> before(
      Connection connection, String scope, String key, String digest) throws SQLException {
    List<Answered> answered =
        BEFORE
            .on(connection)
            .set("scope", scope)
            .set("key", key)
            .list(
                row ->
                    new Answered(
                        row.getString("digest"),
                        new Enqueued(Rows.id(row, "id"), row.getBoolean("duplicate"))));
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
    return FORGET.on(connection).set("age", olderThan).update();
  }
}
