package dev.holdfast.queue.wait;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.Decision.Answer;
import dev.holdfast.queue.command.LockJob;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Answers the question of a job that waits for a person, and wakes it. */
public final class Decide {
  private static final Sql ASKED =
      Sql.of(
          """
          SELECT j.wait -> 'question' ->> 'role' AS role
            FROM holdfast.job j
           WHERE j.id = :job AND j.wait_sort = 'APPROVAL' AND j.wait ->> 'id' = :wait
             AND (j.wait ->> 'since')::timestamptz
                 = coalesce(:since::timestamptz, (j.wait ->> 'since')::timestamptz)
          """);

  private static final Sql WAKE =
      WakeSql.of(
          Sql.fragment(
              """
          WITH over AS MATERIALIZED (
            SELECT j.id, j.wait, NULL::timestamptz AS run_at, ${ended} AS ended,
                   NULL::jsonb AS payload
              FROM holdfast.job j
             WHERE j.id = :job AND j.wait_sort = 'APPROVAL' AND j.wait ->> 'id' = :wait
          )
          """,
              "ended",
              WakeSql.ended(
                  "'APPROVAL'",
                  "CASE WHEN :approved::bool THEN 'APPROVED' ELSE 'REJECTED' END",
                  """
                  , 'by', nullif(:by::text, ''), 'comment', nullif(:comment::text, ''),
                  'at', clock_timestamp()
                  """)));

  /**
   * What became of a decision.
   *
   * @param queue of the job, if it was woken
   */
  public record Decided(Answer answer, @Nullable String queue) {}

  private Decide() {}

  /** The question that the job asks under this id now, in one transaction. */
  public static Decided one(
      Connection connection, JobId job, String wait, Decision decision, Role role, Tenant tenant)
      throws SQLException {
    return one(connection, job, wait, null, decision, role, tenant);
  }

  /**
   * In one transaction.
   *
   * @param wait the id under which the job asks
   * @param since when it has asked this; null for whenever
   * @param role of who decides
   */
  public static Decided one(
      Connection connection,
      JobId job,
      String wait,
      @Nullable Instant since,
      Decision decision,
      Role role,
      Tenant tenant)
      throws SQLException {
    if (LockJob.stateOf(connection, job, tenant).isEmpty()) {
      return new Decided(Answer.NO_SUCH_JOB, null);
    }
    Optional<Role> asked =
        ASKED
            .on(connection)
            .set("job", job)
            .set("wait", wait)
            .set("since", since)
            .first(row -> Role.valueOf(row.getString("role")));
    if (asked.isEmpty()) {
      return new Decided(Answer.NOT_ASKED, null);
    }
    if (role.compareTo(asked.get()) < 0) {
      return new Decided(Answer.NOT_ALLOWED, null);
    }
    List<String> woken =
        WAKE.on(connection)
            .set("job", job)
            .set("wait", wait)
            .set("approved", decision.approved())
            .set("by", decision.by())
            .set("comment", decision.comment())
            .list(row -> row.getString("queue"));
    return new Decided(Answer.ACCEPTED, woken.getFirst());
  }
}
