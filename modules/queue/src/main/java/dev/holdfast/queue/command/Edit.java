package dev.holdfast.queue.command;

import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Changes the priority, the time or the payload of a job that no worker has claimed. */
public final class Edit {
  // The transaction holds the row's lock, so no claim takes the job before this is committed, and
  // the state cannot change. The event has no payload: it would outlive a secret that was in it.
  private static final Sql SQL =
      Sql.of(
          """
          WITH held AS MATERIALIZED (
            SELECT j.id, j.priority, j.run_at,
                   coalesce(:runAt::timestamptz,
                            clock_timestamp() + :delay::int8 * interval '1 millisecond') AS next_run_at
              FROM holdfast.job j
             WHERE j.id = :job
          ), edited AS (
            UPDATE holdfast.job j
               SET priority = coalesce(:priority::int2, j.priority),
                   run_at = coalesce(h.next_run_at, j.run_at),
                   payload = coalesce(:payload::jsonb, j.payload),
                   event_count = j.event_count + 1
              FROM held h
             WHERE j.id = h.id AND j.lease_expires_at IS NULL AND j.finished_at IS NULL
            RETURNING j.id, j.attempt, j.event_count, j.queue, h.priority AS old_priority,
                      h.run_at AS old_run_at, j.priority AS new_priority, j.run_at AS new_run_at
          ), event_inserted AS (
            ${event}
          )
          SELECT queue FROM edited
          """,
          "event",
          EventSql.append(
              "j.event_count",
              "'edited'",
              """
              jsonb_strip_nulls(jsonb_build_object(
                'priority', CASE WHEN :priority::int2 IS NOT NULL
                  THEN jsonb_build_object('from', j.old_priority, 'to', j.new_priority) END,
                'runAt', CASE WHEN j.new_run_at <> j.old_run_at
                  THEN jsonb_build_object('from', j.old_run_at, 'to', j.new_run_at) END,
                'payload', CASE WHEN :payload::jsonb IS NOT NULL THEN 'replaced' END))
              """,
              "edited j"));

  private Edit() {}

  /**
   * What was done.
   *
   * @param queue of the job, if it was changed
   */
  public record Edited(JobEdit.Answer answer, @Nullable String queue) {}

  /** In one transaction; empty when there is no such job. */
  public static Optional<Edited> one(
      Connection connection, JobId job, JobEdit edit, Codec codec, Tenant tenant)
      throws SQLException {
    Object given = edit.payload();
    Json payload = given == null ? null : Limits.payload(codec.encode(given));
    Optional<JobState> state = LockJob.stateOf(connection, job, tenant);
    if (state.isEmpty()) {
      return Optional.empty();
    }
    JobEdit.Outcome outcome = outcome(state.get());
    String queue =
        outcome == JobEdit.Outcome.EDITED
            ? SQL.on(connection)
                .set("job", job)
                .set("priority", edit.priority())
                .set("delay", edit.delay())
                .set("runAt", edit.runAt())
                .set("payload", payload)
                .only(row -> row.getString("queue"))
            : null;
    return Optional.of(new Edited(new JobEdit.Answer(job, state.get(), outcome), queue));
  }

  private static JobEdit.Outcome outcome(JobState state) {
    if (state == JobState.RUNNING) {
      return JobEdit.Outcome.ALREADY_RUNNING;
    }
    return state.isTerminal() ? JobEdit.Outcome.ALREADY_TERMINAL : JobEdit.Outcome.EDITED;
  }
}
