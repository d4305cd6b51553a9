package dev.holdfast.queue.read;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.ForkedFrom;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.jdbc.AttributesJson;
import dev.holdfast.queue.jdbc.FailureJson;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.jdbc.WaitJson;
import dev.holdfast.queue.jdbc.Where;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads jobs as people and programs want to see them. */
public final class JobReader {
  /** How much of the long parts of a job is read. */
  public enum Detail {
    // Rows from before long numbers were refused may hold more than can be written out, or sent.
    ALL(
        """
        CASE WHEN %1$s THEN payload END AS payload,
        CASE WHEN %2$s THEN result END AS result,
        failure, NOT %1$s AS no_payload, NOT %2$s AS no_result, false AS no_trace
        """
            .formatted(
                isShort("payload", Limits.BULK_BYTES), isShort("result", Limits.BULK_BYTES))),

    // A list of two hundred jobs of a megabyte each has only their short parts. By its stored
    // size first, which is known without reading it; a payload that was compressed well is read,
    // but only once it is known to be small there.
    SHORT(
        """
        CASE WHEN %1$s THEN payload END AS payload,
        CASE WHEN %2$s THEN result END AS result,
        failure - 'stackTrace' AS failure,
        NOT %1$s AS no_payload, NOT %2$s AS no_result,
        coalesce(jsonb_exists(failure, 'stackTrace'), false) AS no_trace
        """
            .formatted(fits("payload"), fits("result"))),

    NONE(
        """
        NULL AS payload, NULL AS result, failure - 'stackTrace' AS failure,
        true AS no_payload, result IS NOT NULL AS no_result,
        coalesce(jsonb_exists(failure, 'stackTrace'), false) AS no_trace
        """);

    private final String columns;

    Detail(String columns) {
      this.columns = columns;
    }

    private static String fits(String column) {
      return """
          CASE WHEN %1$s IS NULL THEN true
               WHEN pg_column_size(%1$s) > %2$d THEN false
               WHEN NOT %3$s THEN false
               ELSE octet_length(%1$s::text) <= %2$d END
          """
          .formatted(column, Limits.LISTED_BYTES, isShort(column, Limits.LISTED_BYTES));
    }

    private String select() {
      return "SELECT " + columns + COLUMNS;
    }
  }

  private static final String COLUMNS =
      """
      , id, kind, queue, state, priority, attempt, failures,
             max_attempts, crashes, max_crashes, progress, progress_message, ${worker} AS worker_id, heartbeat_at,
             lease_expires_at, created_at, run_at, started_at, finished_at, cancel_requested_at,
             cancel_reason, deadline, tenant, workspace, run_id, run_key, parent_id, unique_key,
             concurrency_key, attributes, wait_sort, wake_at, wait, version, forked_from, forked_at
      """
          .replace("${worker}", WorkerSql.ofJob("job"));

  // 'created', 'processing' and 'done' have no rows of their own, unless the job succeeded and was
  // sent back to a step (Retry); nor have the start and the end of a step that was reported once.
  // Their numbers are kept where the facts are, so the timeline reads as one list without gaps.
  private static final Sql TIMELINE =
      Sql.of(
          """
      SELECT number, type, attempt, at, data
        FROM holdfast.event WHERE job_id = :job
      UNION ALL
      SELECT 1, 'created', 0, created_at, '{}'
        FROM holdfast.job WHERE id = :job
      UNION ALL
      SELECT started_event_number, 'processing', attempt, started_at,
             jsonb_build_object('worker', ${ofAttempt})
        FROM holdfast.attempt WHERE job_id = :job
      UNION ALL
      SELECT started_event_number, 'processing', attempt, started_at,
             jsonb_build_object('worker', ${ofJob})
        FROM holdfast.job WHERE id = :job AND state IN ('RUNNING', 'SUCCEEDED')
      UNION ALL
      SELECT event_count, 'done', attempt, finished_at, '{}'
        FROM holdfast.job WHERE id = :job AND state = 'SUCCEEDED'
      UNION ALL
      SELECT number, type, attempt, at, data FROM (${ofSteps}) AS of_steps
       ORDER BY number
      """,
          "ofSteps",
          EventSql.ofSteps(
              "holdfast.step s WHERE s.job_id = :job AND s.finished_event_number IS NOT NULL"),
          "ofAttempt",
          WorkerSql.ofAttempt("attempt"),
          "ofJob",
          WorkerSql.ofJob("job"));

  private static final Sql ATTEMPTS =
      Sql.of(
          """
      WITH a (attempt, outcome, worker_id, started_by, started_at, ended_at, failure) AS (
        SELECT attempt, outcome, worker_id, started_by, started_at, ended_at, failure
          FROM holdfast.attempt WHERE job_id = :job
        UNION ALL
        SELECT attempt, state, worker_id, started_by, started_at, finished_at, NULL
          FROM holdfast.job WHERE id = :job AND state IN ('RUNNING', 'SUCCEEDED')
        UNION ALL
        -- Succeeded once, and was sent back.
        SELECT d.attempt, 'SUCCEEDED', p.data ->> 'worker', NULL, p.at, d.at, NULL
          FROM holdfast.event d
          JOIN holdfast.event p
            ON p.job_id = d.job_id AND p.attempt = d.attempt AND p.type = 'processing'
         WHERE d.job_id = :job AND d.type = 'done'
      )
      -- A pushed task is leased under the name of its queue; its worker is known when that reports
      -- the start or the end.
      SELECT a.attempt, a.outcome, a.started_at, a.ended_at, a.failure,
             CASE WHEN a.worker_id LIKE '${push}%' THEN coalesce(c.worker_id, ${worker})
                  ELSE a.worker_id END AS worker_id
        FROM a LEFT JOIN holdfast.completion c ON c.job_id = :job AND c.attempt = a.attempt
       ORDER BY a.attempt
      """,
          "push", Dispatch.WORKER, "worker", WorkerSql.ofAttempt("a"));

  private static final Json NOTHING = new Json("null");

  private JobReader() {}

  /** Whether the numbers of a column are not too long, which is known without writing them out. */
  public static String isShort(String column, int digits) {
    return "coalesce(holdfast.long_number_digits(%s) <= %d, true)".formatted(column, digits);
  }

  public static Optional<JobStatus> find(Connection connection, JobId job) throws SQLException {
    return read(
            connection,
            Detail.ALL,
            "FROM holdfast.job WHERE id = :job",
            call -> call.set("job", job))
        .stream()
        .findFirst();
  }

  static List<JobStatus> list(Connection connection, Rowset rows, Detail detail)
      throws SQLException {
    return read(connection, detail, rows.from(), rows.binding());
  }

  /** Where the jobs of a filter stand, and nothing else of them. */
  static List<JobCursor> places(Connection connection, Rowset rows) throws SQLException {
    return rows.binding()
        .bind(Sql.of("SELECT created_at, id " + rows.from()).on(connection))
        .list(Rows::cursor);
  }

  /** The rows of a filter, in its order. */
  record Rowset(String from, Binding binding) {
    static Rowset led(Connection connection, JobFilter filter) throws SQLException {
      Where where = Where.of(connection, filter);
      return new Rowset(
          Sql.fragment(
              "FROM holdfast.job ${where} ${order} LIMIT :limit",
              "where",
              where.sql(),
              "order",
              Where.order(filter)),
          call -> where.bind(call).set("limit", filter.limit()));
    }

    /** Among the first of their range alone: no index leads to these. */
    static Rowset among(Connection connection, JobFilter filter, int walked) throws SQLException {
      Where range = Where.range(filter);
      Where where = Where.of(connection, filter.from(null).before(null));
      return new Rowset(
          Sql.fragment(
              """
              FROM (SELECT * FROM holdfast.job ${range} ${order} LIMIT :walked) AS job
               ${where} ${order} LIMIT :limit
              """,
              "order",
              Where.order(filter),
              "range",
              range.sql(),
              "where",
              where.sql()),
          call -> where.bind(range.bind(call)).set("walked", walked).set("limit", filter.limit()));
    }
  }

  static List<JobStatus> all(
      Connection connection, List<JobId> jobs, JobFilter filter, Detail detail)
      throws SQLException {
    return read(
        connection,
        detail,
        "FROM holdfast.job WHERE id = ANY (:jobs::uuid[]) " + Where.order(filter),
        call -> call.array("jobs", "uuid", jobs, job -> job));
  }

  interface Binding {
    Sql.Call bind(Sql.Call call) throws SQLException;
  }

  /**
   * A payload or result that the server cannot make a text of, because it is damaged, must not keep
   * others from being seen: then all of them are left out, and the jobs say so.
   */
  private static List<JobStatus> read(
      Connection connection, Detail detail, String from, Binding binding) throws SQLException {
    try {
      return binding.bind(Sql.of(detail.select() + from).on(connection)).list(JobReader::status);
    } catch (SQLException e) {
      if (!SqlErrors.isUnreadable(e)) {
        throw e;
      }
      return binding
          .bind(Sql.of(Detail.NONE.select() + from).on(connection))
          .list(JobReader::status);
    }
  }

  public static List<JobEvent> timeline(Connection connection, JobId job) throws SQLException {
    return TIMELINE
        .on(connection)
        .set("job", job)
        .list(
            row ->
                new JobEvent(
                    row.getInt("number"),
                    row.getString("type"),
                    row.getInt("attempt"),
                    Rows.instant(row, "at"),
                    new Json(row.getString("data"))));
  }

  public static List<Attempt> attempts(Connection connection, JobId job) throws SQLException {
    return ATTEMPTS.on(connection).set("job", job).list(JobReader::attempt);
  }

  static Attempt attempt(ResultSet row) throws SQLException {
    return new Attempt(
        row.getInt("attempt"),
        AttemptOutcome.valueOf(row.getString("outcome")),
        row.getString("worker_id"),
        Rows.instant(row, "started_at"),
        Rows.instantOrNull(row, "ended_at"),
        FailureJson.read(row.getString("failure")));
  }

  private static JobStatus status(ResultSet row) throws SQLException {
    return new JobStatus(
        Rows.id(row, "id"),
        row.getString("kind"),
        row.getString("queue"),
        JobState.valueOf(row.getString("state")),
        row.getInt("priority"),
        new JobStatus.Execution(
            row.getInt("attempt"),
            row.getInt("failures"),
            row.getInt("max_attempts"),
            row.getInt("crashes"),
            row.getInt("max_crashes"),
            Rows.intOrNull(row, "progress"),
            row.getString("progress_message"),
            row.getString("worker_id"),
            row.getInt("version") == 0 ? null : row.getInt("version")),
        new JobStatus.Times(
            Rows.instant(row, "created_at"),
            Rows.instant(row, "run_at"),
            Rows.instantOrNull(row, "started_at"),
            Rows.instantOrNull(row, "heartbeat_at"),
            Rows.instantOrNull(row, "lease_expires_at"),
            Rows.instantOrNull(row, "finished_at"),
            Rows.instantOrNull(row, "deadline")),
        new JobStatus.Cancel(
            Rows.instantOrNull(row, "cancel_requested_at"), row.getString("cancel_reason")),
        new JobStatus.Relations(
            row.getString("tenant"),
            row.getString("workspace"),
            Rows.id(row, "run_id"),
            row.getString("run_key"),
            Rows.idOrNull(row, "parent_id"),
            forkedFrom(row),
            row.getString("unique_key"),
            row.getString("concurrency_key")),
        WaitJson.read(row),
        AttributesJson.read(row.getString("attributes")),
        new JobStatus.Content(
            row.getBoolean("no_payload") ? NOTHING : new Json(row.getString("payload")),
            Rows.jsonOrNull(row, "result"),
            FailureJson.read(row.getString("failure")),
            omitted(row)));
  }

  private static @Nullable ForkedFrom forkedFrom(ResultSet row) throws SQLException {
    JobId job = Rows.idOrNull(row, "forked_from");
    return job == null ? null : new ForkedFrom(job, row.getString("forked_at"));
  }

  private static List<String> omitted(ResultSet row) throws SQLException {
    List<String> omitted = new ArrayList<>();
    if (row.getBoolean("no_payload")) {
      omitted.add(JobStatus.PAYLOAD);
    }
    if (row.getBoolean("no_result")) {
      omitted.add(JobStatus.RESULT);
    }
    if (row.getBoolean("no_trace")) {
      omitted.add(JobStatus.STACK_TRACE);
    }
    return omitted;
  }
}
