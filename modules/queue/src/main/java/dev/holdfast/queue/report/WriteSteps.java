package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes how the steps of running jobs get on, fenced like every write: reports of many jobs in one
 * statement, one of each job.
 */
final class WriteSteps {
  private static final String HELD =
      """
      held AS MATERIALIZED (
        SELECT i.*, job.event_count
          FROM (SELECT * FROM input ORDER BY id) AS i
         CROSS JOIN LATERAL (
           SELECT j.event_count FROM holdfast.job j
            WHERE j.id = i.id AND j.attempt = i.attempt AND %s
            LIMIT 1
              FOR NO KEY UPDATE) AS job
      )"""
          .formatted(FenceSql.isRunning("j"));

  private static final String OTHERS =
      "(SELECT count(*) FROM holdfast.step o WHERE o.job_id = h.id AND o.step_id <> h.step_id)";

  // What nearly every step is: done, and not known before. Its two events are columns of its row.
  // The others of the job are counted only where there may be too many. What is not inserted is for
  // the statement below.
  private static final Sql SHORT =
      Sql.of(
          """
          WITH input AS (
            SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[], :steps::text[], :indexes::int4[],
                                 :stepAttempts::int4[], :checkpoints::text[], :tookMicros::int8[])
              AS i(id, attempt, step_id, step_index, step_attempt, checkpoint, took)
          ), ${held}, inserted AS (
            INSERT INTO holdfast.step
                   (job_id, step_id, step_index, state, attempt, job_attempt, checkpoint,
                    started_at, finished_at, finished_event_number)
            SELECT h.id, h.step_id, h.step_index, 'DONE', h.step_attempt, h.attempt, h.checkpoint::jsonb,
                   clock_timestamp() - h.took * interval '1 microsecond', clock_timestamp(),
                   h.event_count + 2
              FROM held h
             WHERE h.step_index <= :most AND (h.event_count < 2 * :most OR ${others} < :most)
            ON CONFLICT (job_id, step_id) DO NOTHING
            RETURNING job_id, job_attempt
          ), counted AS (
            UPDATE holdfast.job j SET event_count = j.event_count + 2
              FROM inserted i
             WHERE j.id = i.job_id
          )
          SELECT id, attempt, false AS written, false AS too_many FROM held
          UNION ALL
          SELECT job_id, job_attempt, true, false FROM inserted
          """,
          "held",
          HELD,
          "others",
          OTHERS);

  // A report that is repeated changes nothing, however late it comes: an attempt of a step goes
  // from RUNNING to its end, and never back over that or over an attempt that came after it. A row
  // that has events is not written over before they have rows of their own.
  private static final Sql ANY =
      Sql.of(
          """
          WITH input AS (
            SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[], :steps::text[], :indexes::int4[],
                                 :states::text[], :stepAttempts::int4[], :resets::int4[],
                                 :checkpoints::text[], :tookMicros::int8[], :ownEvents::int4[])
              WITH ORDINALITY
              AS i(id, attempt, step_id, step_index, state, step_attempt, resets, checkpoint, took,
                   own_events, n)
          ), entry AS MATERIALIZED (
            SELECT * FROM unnest(:entryOf::int4[], :types::text[], :data::text[]) WITH ORDINALITY
              AS e(n, type, data, place)
          ), ${held}, written AS (
            INSERT INTO holdfast.step AS s
                   (job_id, step_id, step_index, state, attempt, job_attempt, resets, checkpoint,
                    started_at, finished_at, finished_event_number)
            SELECT h.id, h.step_id, h.step_index, h.state, h.step_attempt, h.attempt, h.resets,
                   h.checkpoint::jsonb,
                   clock_timestamp() - coalesce(h.took, 0) * interval '1 microsecond',
                   CASE WHEN h.state <> 'RUNNING' THEN clock_timestamp() END,
                   h.event_count + nullif(h.own_events, 0)
              FROM held h
             WHERE ${others} < :most
            ON CONFLICT (job_id, step_id) DO UPDATE
               SET state = excluded.state, attempt = excluded.attempt,
                   job_attempt = excluded.job_attempt, resets = s.resets + excluded.resets,
                   checkpoint = excluded.checkpoint, ended = NULL, patch = NULL,
                   started_at = CASE WHEN (s.job_attempt, s.attempt)
                                          = (excluded.job_attempt, excluded.attempt)
                                     THEN s.started_at ELSE excluded.started_at END,
                   finished_at = excluded.finished_at,
                   finished_event_number = excluded.finished_event_number
             WHERE s.finished_event_number IS NULL
               AND ((s.job_attempt, s.attempt) < (excluded.job_attempt, excluded.attempt)
                    OR ((s.job_attempt, s.attempt) = (excluded.job_attempt, excluded.attempt)
                        AND s.state = 'RUNNING' AND excluded.state <> 'RUNNING'))
            RETURNING job_id
          ), event_inserted AS (
            ${event}
          ), counted AS (
            UPDATE holdfast.job j
               SET event_count = j.event_count + h.own_events
                     + (SELECT count(*) FROM entry e WHERE e.n = h.n)
              FROM held h JOIN written w ON w.job_id = h.id
             WHERE j.id = h.id
          )
          SELECT h.id, h.attempt, w.job_id IS NOT NULL AS written, ${others} >= :most AS too_many
            FROM held h LEFT JOIN written w ON w.job_id = h.id
          """,
          "held",
          HELD,
          "others",
          OTHERS,
          "event",
          EventSql.append(
              "j.event_count + row_number() OVER (PARTITION BY j.id ORDER BY e.place)",
              "e.type",
              "e.data::jsonb",
              "entry e JOIN held j ON j.n = e.n JOIN written w ON w.job_id = j.id"));

  private static final Sql SAVE_PATCH =
      Sql.of("UPDATE holdfast.step SET patch = :patch WHERE job_id = :job AND step_id = :step");

  // A repeated report comes here, too: it finds a row that it does not write over, and the events
  // are the same ones before and after.
  private static final Sql STORE_EVENTS =
      Sql.of(
          """
          WITH told AS MATERIALIZED (
            SELECT s.* FROM holdfast.step s
             WHERE s.job_id = :job AND (s.step_id = :step OR s.step_index >= :from)
               AND s.finished_event_number IS NOT NULL
             ORDER BY s.step_id
               FOR UPDATE
          ), event_inserted AS (
            ${copy}
          )
          UPDATE holdfast.step s SET finished_event_number = NULL
            FROM told t
           WHERE s.job_id = t.job_id AND s.step_id = t.step_id
          """,
          "copy",
          EventSql.copy(EventSql.ofSteps("told s")));

  private static final Sql FORGET =
      Sql.of(
          """
          UPDATE holdfast.step SET state = 'FAILED', checkpoint = NULL, ended = NULL, patch = NULL
           WHERE job_id = :job AND step_index >= :from AND state = 'DONE'
          """);

  // What was started under ids that are dropped is no longer waited for: the handler starts others.
  private static final Sql ABANDON =
      Sql.of(
          """
          UPDATE holdfast.job c SET started_as = NULL
            FROM holdfast.step s
           WHERE s.job_id = :job AND s.step_index >= :from
             AND c.parent_id = :job AND c.started_as = s.step_id
          RETURNING c.id
          """);

  private static final String ABANDONED = "its parent was sent back to before it was started";

  /**
   * What became of some reports.
   *
   * @param held the leases that are held
   * @param written of which of them the report was written
   */
  record Written(Set<Lease> held, Set<Lease> written) {}

  private record Row(Lease lease, boolean written, boolean tooMany) {
    static Row read(ResultSet row) throws SQLException {
      return new Row(Rows.lease(row), row.getBoolean("written"), row.getBoolean("too_many"));
    }
  }

  private WriteSteps() {}

  /** Short reports, one of each lease. What is not written is for {@link #one}. */
  static Written brief(Connection connection, List<Report.Step> reports) throws SQLException {
    return written(
        bind(SHORT, connection, reports)
            .array("tookMicros", "int8", reports, WriteSteps::tookMicros)
            .set("most", Limits.STEPS)
            .listByKey(Row::read));
  }

  /** Reports of any kind, but of those that are {@link #isAlone alone}. */
  static Written any(Connection connection, List<Report.Step> reports) throws SQLException {
    return written(rows(connection, reports));
  }

  private static List<Row> rows(Connection connection, List<Report.Step> reports)
      throws SQLException {
    List<Report.Entry> entries = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < reports.size(); i++) {
      for (Report.Entry entry : reports.get(i).events()) {
        entries.add(entry);
        places.add(i + 1);
      }
    }
    List<Row> rows =
        bind(ANY, connection, reports)
            .array("states", "text", reports, Report.Step::state)
            .array("resets", "int4", reports, step -> step.reset() ? 1 : 0)
            .array("tookMicros", "int8", reports, WriteSteps::tookMicros)
            .array("ownEvents", "int4", reports, step -> step.wasShort() ? 2 : 0)
            .array("entryOf", "int4", places, place -> place)
            .array("types", "text", entries, Report.Entry::type)
            .array("data", "text", entries, Report.Entry::data)
            .set("most", Limits.STEPS)
            .listByKey(Row::read);
    if (rows.stream().anyMatch(Row::tooMany)) {
      throw new RefusedException(
          Refusal.BAD_LIMIT, "a job has %,d steps at most".formatted(Limits.STEPS));
    }
    return rows;
  }

  private static Sql.Call bind(Sql sql, Connection connection, List<Report.Step> reports)
      throws SQLException {
    return sql.on(connection)
        .leases(reports.stream().map(Report.Step::lease).toList())
        .array("steps", "text", reports, Report.Step::stepId)
        .array("indexes", "int4", reports, Report.Step::index)
        .array("stepAttempts", "int4", reports, Report.Step::attempt)
        .array("checkpoints", "text", reports, Report.Step::checkpoint);
  }

  private static @Nullable Long tookMicros(Report.Step step) {
    Duration took = step.took();
    return took == null ? null : took.toNanos() / 1_000;
  }

  private static Written written(List<Row> rows) {
    return new Written(
        rows.stream().map(Row::lease).collect(Collectors.toSet()),
        rows.stream().filter(Row::written).map(Row::lease).collect(Collectors.toSet()));
  }

  /** Whether a report has a transaction to itself: an operator asked for it, or it has a patch. */
  static boolean isAlone(Report.Step step) {
    return step.patch() != null || step.discardFromIndex() != null || step.handledCommand() != null;
  }

  /** Any report, in a transaction. */
  static Ack one(Connection connection, Report.Step step) throws SQLException {
    Lease lease = step.lease();
    if (!FenceSql.hold(connection, lease)) {
      return Ack.LEASE_LOST;
    }
    Integer from = step.discardFromIndex();
    STORE_EVENTS
        .on(connection)
        .set("job", lease.job())
        .set("step", step.stepId())
        .set("from", from == null ? Integer.MAX_VALUE : from)
        .update();
    if (!rows(connection, List.of(step)).getFirst().written()) {
      return Ack.ACCEPTED;
    }
    Patch patch = step.patch();
    if (patch != null) {
      SAVE_PATCH
          .on(connection)
          .set("job", lease.job())
          .set("step", step.stepId())
          .set("patch", patch.bytes())
          .update();
    }
    if (from != null) {
      FORGET.on(connection).set("job", lease.job()).set("from", from).update();
      abandon(connection, lease.job(), from);
    }
    if (step.handledCommand() != null) {
      Commands.removeHandled(connection, lease.job(), step.handledCommand());
    }
    return Ack.ACCEPTED;
  }

  private static void abandon(Connection connection, JobId job, int from) throws SQLException {
    List<JobId> children =
        ABANDON.on(connection).set("job", job).set("from", from).list(row -> Rows.id(row, "id"));
    if (!children.isEmpty()) {
      Cancel.some(connection, children, true, ABANDONED, Tenant.ANY);
    }
  }
}
