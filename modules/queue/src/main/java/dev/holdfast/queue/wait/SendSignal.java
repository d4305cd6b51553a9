package dev.holdfast.queue.wait;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.SignalToJob.Answer;
import dev.holdfast.queue.command.LockJob;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Puts a signal into a job's mailbox, and wakes the job if it waits for it. The job's row is locked
 * first: an attempt that asks for the signal at this moment has either suspended the job, which is
 * then woken, or looks into the mailbox afterwards.
 */
public final class SendSignal {
  private static final Sql OF_KEY =
      Sql.of(
          """
          SELECT j.id FROM holdfast.job j
           WHERE ${tenant} AND j.kind = :kind AND j.unique_key = :key AND j.unique_states > 0
          """,
          "tenant",
          TenantSql.isOf("j"));

  private static final Sql BEFORE =
      Sql.of(
          """
          SELECT (SELECT count(*) FROM holdfast.signal m
                   WHERE m.job_id = :job AND m.taken_by IS NULL) AS untaken,
                 EXISTS (SELECT FROM holdfast.signal m
                          WHERE m.job_id = :job AND m.key = :key::text) AS sent_before
          """);

  private static final Sql PUT =
      Sql.of(
          """
          WITH counted AS (
            UPDATE holdfast.job j SET event_count = j.event_count + 1
             WHERE j.id = :job
            RETURNING j.id, j.attempt, j.event_count
          ), put AS (
            INSERT INTO holdfast.signal
                   (job_id, number, name, payload, key, sent_by, sent_at)
            SELECT c.id, c.event_count, :name, :payload::jsonb, :key, :by, clock_timestamp()
              FROM counted c
          )
          ${event}
          """,
          "event",
          EventSql.append(
              "j.event_count",
              "'signal'",
              """
              jsonb_strip_nulls(jsonb_build_object(
                'name', :name::text, 'key', :key::text, 'by', nullif(:by::text, '')))
              """,
              "counted j"));

  // The mailbox had no such signal before: the job would not wait for it. So this is the only one.
  private static final Sql WAKE =
      WakeSql.of(
          Sql.fragment(
              """
          WITH found AS MATERIALIZED (
            SELECT j.id, j.wait, m.number, m.payload, m.sent_by, m.sent_at
              FROM holdfast.job j
              JOIN holdfast.signal m
                ON m.job_id = j.id AND m.name = j.wait ->> 'name' AND m.taken_by IS NULL
             WHERE j.id = :job AND j.wait_sort = 'SIGNAL'
             ORDER BY m.number
             LIMIT 1
          ), taken AS (
            UPDATE holdfast.signal m SET taken_by = f.wait ->> 'id'
              FROM found f
             WHERE m.job_id = f.id AND m.number = f.number
          ), over AS MATERIALIZED (
            SELECT f.id, f.wait, NULL::timestamptz AS run_at, ${ended} AS ended, f.payload
              FROM found f
          )
          """,
              "ended",
              WakeSql.ended(
                  "'SIGNAL'", "'SIGNAL'", ", 'by', nullif(f.sent_by, ''), 'at', f.sent_at")));

  /**
   * What became of a signal.
   *
   * @param queue of a job that was woken
   */
  public record Sent(Answer answer, @Nullable String queue) {}

  private SendSignal() {}

  /** The job that holds a unique key. */
  public static Optional<JobId> holder(
      Connection connection, Tenant tenant, String kind, String key) throws SQLException {
    return OF_KEY
        .on(connection)
        .tenant(tenant)
        .set("kind", kind)
        .set("key", key)
        .first(row -> Rows.id(row, "id"));
  }

  /** In one transaction. */
  public static Sent one(Connection connection, JobId job, SignalToJob signal, Tenant tenant)
      throws SQLException {
    Optional<JobState> state = LockJob.stateOf(connection, job, tenant);
    if (state.isEmpty()) {
      return new Sent(Answer.NO_SUCH_JOB, null);
    }
    Answer refused = refused(connection, job, state.get(), signal);
    if (refused != null) {
      return new Sent(refused, null);
    }
    PUT.on(connection)
        .set("job", job)
        .set("name", signal.name())
        .set("payload", signal.payload())
        .set("key", signal.key())
        .set("by", signal.by())
        .update();
    List<String> woken =
        state.get() == JobState.WAITING
            ? WAKE.on(connection).set("job", job).list(row -> row.getString("queue"))
            : List.of();
    return new Sent(Answer.ACCEPTED, woken.isEmpty() ? null : woken.getFirst());
  }

  private static @Nullable Answer refused(
      Connection connection, JobId job, JobState state, SignalToJob signal) throws SQLException {
    return BEFORE
        .on(connection)
        .set("job", job)
        .set("key", signal.key())
        .only(
            row -> {
              if (row.getBoolean("sent_before")) {
                return Optional.of(Answer.DUPLICATE);
              }
              if (state.isTerminal()) {
                return Optional.of(Answer.ALREADY_TERMINAL);
              }
              return row.getInt("untaken") >= SignalToJob.MAILBOX
                  ? Optional.of(Answer.MAILBOX_FULL)
                  : Optional.<Answer>empty();
            })
        .orElse(null);
  }
}
