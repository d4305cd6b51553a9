package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.job.EventType;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Takes an attempt's artifacts for the job's, and says so in the timeline. This is the moment of
 * publication: the files are moved afterwards, by whoever was accepted here.
 */
public final class Publish {
  // Run again after a lost answer, it finds its own rows and adds nothing to the timeline.
  private static final String SQL =
      """
      WITH held AS MATERIALIZED (
        SELECT j.id, j.attempt, j.events
          FROM holdfast.job j
         WHERE j.id = ? AND j.attempt = ? AND j.lease_expires_at IS NOT NULL
           FOR NO KEY UPDATE
      ), published AS (
        INSERT INTO holdfast.artifact AS old
               (job_id, name, attempt, store, size, sha256, result, published_at)
        SELECT h.id, a.name, h.attempt, ?, a.size, a.sha256, ?::jsonb, clock_timestamp()
          FROM held h, unnest(?::text[], ?::int8[], ?::text[]) AS a(name, size, sha256)
         ORDER BY a.name
            ON CONFLICT (job_id, name) DO UPDATE
           SET attempt = excluded.attempt, store = excluded.store, size = excluded.size,
               sha256 = excluded.sha256, result = excluded.result,
               published_at = excluded.published_at
         WHERE (old.attempt, old.store, old.sha256)
            <> (excluded.attempt, excluded.store, excluded.sha256)
        RETURNING old.name, old.size, old.sha256
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT h.id, h.events + row_number() OVER (ORDER BY p.name), ?, h.attempt,
               clock_timestamp(),
               jsonb_build_object('name', p.name, 'size', p.size, 'sha256', p.sha256)
          FROM held h, published p
      )
      UPDATE holdfast.job j
         SET events = j.events + (SELECT count(*) FROM published)
        FROM held h
       WHERE j.id = h.id AND j.attempt = h.attempt AND j.lease_expires_at IS NOT NULL
      """;

  private Publish() {}

  public static Ack all(Connection connection, Publication publication) throws SQLException {
    List<Artifact> artifacts = publication.artifacts();
    int held =
        Rows.update(
            connection,
            SQL,
            publication.lease().job(),
            publication.lease().attempt(),
            publication.store(),
            publication.result(),
            Rows.array(connection, "text", artifacts, Artifact::name),
            Rows.array(connection, "int8", artifacts, Artifact::size),
            Rows.array(connection, "text", artifacts, Artifact::sha256),
            EventType.UPLOADED);
    return held == 1 ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
