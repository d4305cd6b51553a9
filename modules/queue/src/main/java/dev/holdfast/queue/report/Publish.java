package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.job.EventType;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Takes an attempt's artifacts for the job's, and says so in the timeline. This is the moment of
 * publication: the files are moved afterwards, by the worker that was accepted here.
 */
public final class Publish {
  // Run again after a lost answer, it finds its own rows and adds nothing to the timeline.
  private static final Sql SQL =
      Sql.of(
          """
      WITH held AS MATERIALIZED (
        SELECT j.id, j.attempt, j.event_count
          FROM holdfast.job j
         WHERE ${held}
           FOR NO KEY UPDATE
      ), published AS (
        INSERT INTO holdfast.artifact AS old
               (job_id, name, attempt, store, size, sha256, result, published_at)
        SELECT h.id, a.name, h.attempt, :store, a.size, a.sha256, :result::jsonb, clock_timestamp()
          FROM held h, unnest(:names::text[], :sizes::int8[], :hashes::text[]) AS a(name, size, sha256)
         ORDER BY a.name
            ON CONFLICT (job_id, name) DO UPDATE
           SET attempt = excluded.attempt, store = excluded.store, size = excluded.size,
               sha256 = excluded.sha256, result = excluded.result,
               published_at = excluded.published_at
         WHERE (old.attempt, old.store, old.sha256)
            <> (excluded.attempt, excluded.store, excluded.sha256)
        RETURNING old.name, old.size, old.sha256
      ), event_inserted AS (
        ${event}
      )
      UPDATE holdfast.job j
         SET event_count = j.event_count + (SELECT count(*) FROM published)
        FROM held h
       WHERE j.id = h.id AND j.attempt = h.attempt AND ${running}
      """,
          "held",
          FenceSql.isHeld("j"),
          "running",
          FenceSql.isRunning("j"),
          "event",
          EventSql.append(
              "j.event_count + row_number() OVER (ORDER BY p.name)",
              ":type",
              "jsonb_build_object('name', p.name, 'size', p.size, 'sha256', p.sha256)",
              "held j, published p"));

  private Publish() {}

  public static Ack all(Connection connection, Publication publication) throws SQLException {
    List<Artifact> artifacts = publication.artifacts();
    int held =
        SQL.on(connection)
            .lease(publication.lease())
            .set("store", publication.store())
            .set("result", publication.result())
            .array("names", "text", artifacts, Artifact::name)
            .array("sizes", "int8", artifacts, Artifact::size)
            .array("hashes", "text", artifacts, Artifact::sha256)
            .set("type", EventType.UPLOADED)
            .update();
    return held == 1 ? Ack.ACCEPTED : Ack.LEASE_LOST;
  }
}
