package dev.holdfast.queue.command;

import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.command.JobFork.Answer;
import dev.holdfast.model.command.JobFork.Outcome;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Enqueues jobs that go on from a step of another one, with copies of what was done before it. The
 * other job is locked while it is read and copied, and not changed: what its worker writes
 * meanwhile comes after the copy as a whole.
 */
public final class Fork {
  // A wait that is open has no row among the steps yet.
  private static final Sql POINT =
      Sql.of(
          """
          WITH point AS MATERIALIZED (
            SELECT coalesce(
                     (SELECT s.step_index FROM holdfast.step s
                       WHERE s.job_id = j.id AND s.step_id = :step),
                     CASE WHEN j.wait ->> 'id' = :step THEN (j.wait ->> 'index')::int END)
                     AS step_index
              FROM holdfast.job j WHERE j.id = :job
          )
          SELECT p.step_index,
                 ARRAY(SELECT known.step_id
                         FROM (SELECT s.step_id, s.step_index FROM holdfast.step s
                                WHERE s.job_id = :job
                               UNION
                               SELECT j.wait ->> 'id', (j.wait ->> 'index')::int
                                 FROM holdfast.job j
                                WHERE j.id = :job AND j.wait ->> 'id' IS NOT NULL) AS known
                        ORDER BY known.step_index, known.step_id
                        LIMIT :mostNamed + 1) AS steps,
                 :times * (SELECT coalesce(sum(pg_column_size(s.checkpoint)), 0)
                                  + coalesce(sum(length(s.patch)), 0)
                             FROM holdfast.step s
                            WHERE s.job_id = :job AND s.state = 'DONE'
                              AND s.step_index < p.step_index) AS bytes,
                 EXISTS (SELECT FROM holdfast.unreadable_payload u WHERE u.job_id = :job)
                   AS without_payload
            FROM point p
          """);

  // A fork finds the jobs that were started before it by their first parent, and reads how they
  // have
  // ended: nobody would wake it, so they must have ended now.
  private static final Sql CHILDREN =
      Sql.of(
          """
          SELECT s.step_id,
                 (SELECT c.id FROM holdfast.job c
                   WHERE c.parent_id = starter.id AND c.started_as = s.step_id
                     AND c.started_as IS NOT NULL AND c.finished_at IS NULL
                   LIMIT 1) IS NOT NULL AS running,
                 (SELECT count(*) FROM holdfast.job c
                   WHERE c.parent_id = starter.id AND c.started_as = s.step_id)
                   < (s.ended ->> 'jobs')::int AS gone
            FROM holdfast.step s
           CROSS JOIN LATERAL (SELECT coalesce((s.ended ->> 'job')::uuid, s.job_id) AS id) AS starter
           WHERE s.job_id = :job AND s.state = 'DONE' AND s.step_index < :index
             AND s.ended ->> 'outcome' = 'STARTED'
           ORDER BY s.step_index
          """);

  private static final Sql THERE =
      Sql.of(
          """
          SELECT f.id, f.forked_at = :step AND (:payload::jsonb IS NULL OR f.payload = :payload::jsonb)
                   AS same
            FROM holdfast.job f WHERE f.id = ANY (:forks::uuid[])
          """);

  private static final Sql COPY =
      Sql.of(
          """
          WITH fork AS (
            SELECT * FROM unnest(:forks::uuid[]) WITH ORDINALITY AS f(id, n)
          ), copied AS MATERIALIZED (
            SELECT s.* FROM holdfast.step s
             WHERE s.job_id = :job AND s.state = 'DONE' AND s.step_index < :index
          ), enqueued AS (
            INSERT INTO holdfast.job
                   (id, state, created_at, run_at, run_id, run_key, queue, kind, tenant, workspace,
                    priority, payload, max_attempts, max_crashes, timeout_ms, deadline,
                    concurrency_key, concurrency_limit, attributes, version,
                    forked_from, forked_at, event_count)
            SELECT f.id, 'PENDING', clock_timestamp(), clock_timestamp(), o.run_id, o.run_key,
                   o.queue, o.kind, o.tenant, o.workspace, o.priority,
                   coalesce(:payload::jsonb, o.payload), o.max_attempts, o.max_crashes,
                   o.timeout_ms, clock_timestamp() + (o.deadline - o.created_at),
                   o.concurrency_key, o.concurrency_limit, o.attributes,
                   -- What another version has done, another version may do again.
                   CASE WHEN EXISTS (SELECT FROM copied) THEN o.version ELSE 0 END,
                   o.id, :step, 2
              FROM fork f CROSS JOIN holdfast.job o
             WHERE o.id = :job
             ORDER BY f.n
            RETURNING id, attempt, queue
          ), steps_copied AS (
            INSERT INTO holdfast.step
                   (job_id, step_id, step_index, state, attempt, job_attempt, checkpoint, ended,
                    patch, started_at, finished_at)
            SELECT e.id, c.step_id, c.step_index, c.state, c.attempt, 0, c.checkpoint,
                   CASE WHEN c.ended ->> 'outcome' = 'STARTED'
                        THEN jsonb_build_object('job', c.job_id) || c.ended ELSE c.ended END,
                   c.patch, c.started_at, c.finished_at
              FROM enqueued e CROSS JOIN copied c
          ), event_inserted AS (
            ${event}
          )
          SELECT queue FROM enqueued LIMIT 1
          """,
          "event",
          EventSql.append(
              "2",
              "'forked'",
              """
              jsonb_build_object('job', :job::uuid, 'stepId', :step::text,
                                 'steps', (SELECT count(*) FROM copied), 'by', :by::text)
              """,
              "enqueued j"));

  private record Point(
      @Nullable Integer index, List<String> steps, long bytes, boolean withoutPayload) {
    static Point read(ResultSet row) throws SQLException {
      return new Point(
          Rows.intOrNull(row, "step_index"),
          List.of((String[]) row.getArray("steps").getArray()),
          row.getLong("bytes"),
          row.getBoolean("without_payload"));
    }
  }

  /**
   * What was done.
   *
   * @param queue of the forks, if any were made
   */
  public record Forked(Outcome outcome, @Nullable String queue) {}

  private Fork() {}

  /**
   * In one transaction.
   *
   * @param by who asks for it
   */
  public static Forked some(
      Connection connection, JobId job, JobFork fork, String by, Tenant tenant)
      throws SQLException {
    if (LockJob.stateOf(connection, job, tenant).isEmpty()) {
      return new Forked(Outcome.refused(Answer.NO_SUCH_JOB, null), null);
    }
    String key = fork.key() == null ? UUID.randomUUID().toString() : fork.key();
    List<JobId> forks =
        IntStream.range(0, fork.times()).mapToObj(i -> JobId.ofFork(job, key, i)).toList();
    Outcome before = before(connection, job, key, fork, forks);
    if (before != null) {
      return new Forked(before, null);
    }
    Point point =
        POINT
            .on(connection)
            .set("job", job)
            .set("step", fork.fromStep())
            .set("times", fork.times())
            .set("mostNamed", JobFork.MOST_NAMED)
            .only(Point::read);
    Integer index = point.index();
    if (index == null) {
      return new Forked(Outcome.noSuchStep(point.steps()), null);
    }
    Outcome refused = refused(connection, job, fork, point, index);
    if (refused != null) {
      return new Forked(refused, null);
    }
    String queue =
        COPY.on(connection)
            .set("job", job)
            .set("step", fork.fromStep())
            .set("index", index)
            .set("payload", fork.payload())
            .set("by", by)
            .array("forks", "uuid", forks, id -> id)
            .only(row -> row.getString("queue"));
    return new Forked(Outcome.forked(Answer.FORKED, forks), queue);
  }

  /** What the same key was answered before; null if it is new. */
  private static @Nullable Outcome before(
      Connection connection, JobId job, String key, JobFork fork, List<JobId> forks)
      throws SQLException {
    if (fork.key() == null) {
      return null;
    }
    // One more than are asked for: with as many others it was another request.
    List<JobId> asked =
        IntStream.rangeClosed(0, forks.size()).mapToObj(i -> JobId.ofFork(job, key, i)).toList();
    List<Boolean> there =
        THERE
            .on(connection)
            .set("step", fork.fromStep())
            .set("payload", fork.payload())
            .array("forks", "uuid", asked, id -> id)
            .list(row -> row.getBoolean("same"));
    if (there.isEmpty()) {
      return null;
    }
    return there.size() == forks.size() && !there.contains(false)
        ? Outcome.forked(Answer.DUPLICATE, forks)
        : Outcome.refused(Answer.KEY_REUSED, null);
  }

  private record Started(String step, boolean running, boolean gone) {}

  private static @Nullable Outcome refused(
      Connection connection, JobId job, JobFork fork, Point point, int index) throws SQLException {
    if (point.withoutPayload() && fork.payload() == null) {
      return Outcome.refused(Answer.NO_PAYLOAD, null);
    }
    if (point.bytes() > JobFork.MOST_BYTES) {
      return Outcome.refused(Answer.TOO_LARGE, null);
    }
    Optional<Started> wrong =
        CHILDREN
            .on(connection)
            .set("job", job)
            .set("index", index)
            .list(
                row ->
                    new Started(
                        row.getString("step_id"),
                        row.getBoolean("running"),
                        row.getBoolean("gone")))
            .stream()
            .filter(each -> each.running() || each.gone())
            .findFirst();
    return wrong
        .map(
            each ->
                Outcome.refused(
                    each.running() ? Answer.CHILDREN_RUN : Answer.CHILDREN_GONE, each.step()))
        .orElse(null);
  }
}
