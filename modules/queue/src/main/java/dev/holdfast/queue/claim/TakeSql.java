package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A claim: the rows that a CTE {@code picked} found and locked are taken by a worker, and read.
 *
 * @param withPayloads reads the payloads
 * @param withoutPayloads leaves them to {@link UnreadableJobs}
 */
record TakeSql(Sql withPayloads, Sql withoutPayloads) {
  private static final Transition CLAIMED = Transition.from(JobState.PENDING).to(JobState.RUNNING);

  /** The assignments of a claim. */
  static final String SET =
      CLAIMED.set()
          + """
            , attempt = j.attempt + 1, worker_id = :worker, started_by = NULL,
                 started_at = statement_timestamp(), heartbeat_at = statement_timestamp(),
                 claimed_over_http = :remote,
                 lease_expires_at = ${expires}, cancel_grace_ms = :cancelGrace,
                 event_count = j.event_count + 1, started_event_number = j.event_count + 1,
                 progress = NULL, progress_message = NULL
            """
              .replace("${expires}", TakeSql.EXPIRES);

  /** When the lease of a claim runs out. */
  static final String EXPIRES = "statement_timestamp() + :lease * interval '1 millisecond'";

  /** The columns of a job that a worker gets. */
  static final String COLUMNS =
      """
      j.id, j.attempt, j.kind, j.queue, ${payload} AS payload, j.tenant, j.workspace,
                    j.run_id, j.run_key, j.failures, j.max_attempts, j.timeout_ms, j.priority,
                    j.attributes,
                    EXISTS (SELECT FROM holdfast.job_command c WHERE c.job_id = j.id) AS commanded,
                    j.version,
                    CASE WHEN j.attempt > 1 OR j.forked_from IS NOT NULL THEN EXISTS (
                      SELECT FROM holdfast.step s WHERE s.job_id = j.id) ELSE false END AS stepped,
                    date_part('epoch', j.run_at) AS due,
                    date_part('epoch', j.created_at) AS created,
                    date_part('epoch', j.deadline - statement_timestamp()) * 1000 AS deadline_ms,
                    date_part('epoch', statement_timestamp() - greatest(j.run_at, j.created_at))
                      * 1000 AS wait_ms
      """;

  private static final String TAKE =
      """
          ${picked}
          UPDATE holdfast.job j
             SET ${set}
           WHERE j.ctid = ANY (ARRAY(SELECT p.ctid FROM picked p))
          RETURNING ${columns}
          """;

  static TakeSql of(String picked) {
    return reads(TAKE.replace("${picked}", picked.strip()).replace("${set}", SET.strip()));
  }

  /** A statement that reads {@code ${columns}} of jobs {@code j}. */
  static TakeSql reads(String template) {
    return new TakeSql(
        Sql.of(template, "columns", COLUMNS.replace("${payload}", "j.payload")),
        Sql.of(template, "columns", COLUMNS.replace("${payload}", "'null'")));
  }

  /** With what every claim statement has bound. */
  Sql.Call on(Connection connection, ClaimRequest request, boolean payloads) throws SQLException {
    return bind(reading(payloads).on(connection), request);
  }

  Sql reading(boolean payloads) {
    return payloads ? withPayloads : withoutPayloads;
  }

  static Sql.Call bind(Sql.Call call, ClaimRequest request) throws SQLException {
    return call.set("queue", request.queue())
        .set("worker", request.worker())
        .set("lease", request.lease())
        .set("cancelGrace", request.cancelGrace())
        .set("remote", request.receiver() == ClaimRequest.Receiver.REMOTE)
        .tenant(request.tenant())
        .array("versions", "text", request.versions(), ClaimableSql::served);
  }
}
