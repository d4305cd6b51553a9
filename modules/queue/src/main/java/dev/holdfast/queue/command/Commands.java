package dev.holdfast.queue.command;

import dev.holdfast.model.attempt.Background;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobCommand.Answer;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.FailureJson;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Commands for jobs that run in steps; their workers get them with their heartbeats. */
public final class Commands {
  // A step that was begun has a row; one that is still to come may be in the payload.
  private static final Sql STEP =
      Sql.of(
          """
          SELECT coalesce(s.step_index, p.place) AS place, coalesce(s.state, '') AS state,
                 p.place IS NOT NULL AND NOT p.waits AS has_workspace,
                 (SELECT count(*) FROM holdfast.step d
                   WHERE d.job_id = j.id AND d.state = 'DONE'
                     AND d.step_index < coalesce(s.step_index, p.place)) AS done_before
            FROM holdfast.job j
            LEFT JOIN holdfast.step s ON s.job_id = j.id AND s.step_id = :step
            LEFT JOIN LATERAL (
              SELECT min(e.n)::int AS place, bool_or(e.step -> 'wait' IS NOT NULL) AS waits
                FROM jsonb_array_elements(
                       CASE jsonb_typeof(j.payload -> 'steps') WHEN 'array' THEN j.payload -> 'steps'
                                                               ELSE '[]' END)
                     WITH ORDINALITY AS e(step, n)
               WHERE e.step ->> 'id' = :step) AS p ON true
           WHERE j.id = :job AND coalesce(s.step_index, p.place) IS NOT NULL
          """);

  // A worker ignores the pause of a job that does not run in steps. Whether code does is not known
  // before it has run; a step is reported when it is done, or has run for a moment.
  private static final Sql MAY_HAVE_STEPS =
      Sql.of(
          """
          SELECT j.attempt = 0
              OR j.state = 'RUNNING' AND j.started_at > clock_timestamp() - interval '3 seconds'
              OR EXISTS (SELECT FROM holdfast.step s WHERE s.job_id = j.id)
              OR jsonb_typeof(j.payload -> 'steps') IS NOT DISTINCT FROM 'array' AS may_have_steps
            FROM holdfast.job j
           WHERE j.id = :job
          """);

  // Who asked for a step, and why, must not be lost before it is handled: where a step is asked
  // for, the row says it of that, otherwise of what holds the job up.
  private static final Sql HOLD_UP =
      Sql.of(
          """
          INSERT INTO holdfast.job_command AS c (job_id, paused, takeover, requested_by, reason)
          VALUES (:job, :paused, :takeover, :requestedBy, :reason)
          ON CONFLICT (job_id) DO UPDATE
             SET paused = c.paused OR excluded.paused, takeover = c.takeover OR excluded.takeover,
                 requested_by = CASE WHEN c.action IS NULL THEN excluded.requested_by
                                                           ELSE c.requested_by END,
                 reason = CASE WHEN c.action IS NULL THEN excluded.reason ELSE c.reason END
          """);

  private static final Sql RECOVER =
      Sql.of(
          """
          INSERT INTO holdfast.job_command (job_id, action, step_id, requested_by, reason, requested_at)
          VALUES (:job, :action, :step, :requestedBy, :reason, clock_timestamp())
          ON CONFLICT (job_id) DO UPDATE
             SET action = excluded.action, step_id = excluded.step_id,
                 requested_by = excluded.requested_by, reason = excluded.reason,
                 requested_at = excluded.requested_at
          """);

  private static final Sql ACCEPT =
      Sql.of(
          """
          UPDATE holdfast.job_command
             SET takeover = false, action = :action, step_id = :step, requested_by = :requestedBy,
                 reason = :reason, requested_at = clock_timestamp()
           WHERE job_id = :job
          """);

  private static final Sql DONE_FROM =
      Sql.of(
          """
          SELECT step_id FROM holdfast.step
           WHERE job_id = :job AND step_index >= :from AND state = 'DONE'
           ORDER BY step_index
          """);

  private static final Sql DROPS =
      Sql.of(
          """
          SELECT d.step_id
            FROM holdfast.job_command c
            JOIN holdfast.step s ON s.job_id = c.job_id AND s.step_id = c.step_id
            JOIN holdfast.step d ON d.job_id = c.job_id AND d.step_index >= s.step_index
           WHERE c.job_id = :job AND c.action = ANY (:dropping::text[]) AND d.state = 'DONE'
           ORDER BY d.step_index
          """);

  private static final Sql RESUME =
      Sql.of(
          """
          WITH gone AS (
            DELETE FROM holdfast.job_command WHERE job_id = :job AND action IS NULL
          )
          UPDATE holdfast.job_command SET paused = false, takeover = false
           WHERE job_id = :job AND action IS NOT NULL
          """);

  private static final Sql REMOVE_HANDLED =
      Sql.of(
          """
          WITH gone AS (
            DELETE FROM holdfast.job_command
             WHERE job_id = :job AND requested_at = :requestedAt AND NOT paused AND NOT takeover
          )
          UPDATE holdfast.job_command
             SET action = NULL, step_id = NULL, requested_by = NULL, reason = NULL,
                 requested_at = NULL
           WHERE job_id = :job AND requested_at = :requestedAt AND (paused OR takeover)
          """);

  // The handler of a job that waits is called again, to do what is asked.
  private static final Transition CALLED = Transition.from(JobState.WAITING).to(JobState.PENDING);

  private static final Sql CALL_AGAIN =
      Sql.of(
          """
          UPDATE holdfast.job j SET ${set}
           WHERE j.id = :job AND ${from} AND j.wait_sort IS NOT NULL
          RETURNING j.queue
          """,
          "set",
          CALLED.set(),
          "from",
          CALLED.isFrom("j"));

  private static final Sql TELL =
      Sql.of(
          """
          WITH event_inserted AS (
            ${event}
          )
          UPDATE holdfast.job SET event_count = event_count + 1 WHERE id = :job
          """,
          "event",
          EventSql.append(
              "j.event_count + 1",
              ":type",
              """
              jsonb_strip_nulls(jsonb_build_object(
                'action', :action::text, 'stepId', :step::text, 'requestedBy', :requestedBy::text,
                'reason', :reason::text, 'stepsToRepeat', nullif(to_jsonb(:stepsToRepeat::text[]), '[]')))
              """,
              "holdfast.job j WHERE j.id = :job"));

  private static final String COLUMNS =
      "c.paused, c.takeover, c.action, c.step_id, c.requested_by, c.reason, c.requested_at";

  private static final Sql OF_JOB =
      Sql.of(
          "SELECT ${columns} FROM holdfast.job_command c WHERE c.job_id = :job",
          "columns",
          COLUMNS);

  private static final Sql BACKGROUNDS =
      Sql.of(
          """
          SELECT j.id, j.failure - 'stackTrace' AS failure, j.deadline, ${columns}
            FROM holdfast.job j LEFT JOIN holdfast.job_command c ON c.job_id = j.id
           WHERE j.id = ANY (:jobs::uuid[])
             AND (j.failure IS NOT NULL OR j.deadline IS NOT NULL OR c.job_id IS NOT NULL)
          """,
          "columns",
          COLUMNS);

  private record Step(int index, String state, int doneBefore, boolean hasWorkspace) {}

  // It would go on as the same job once more.
  private static final Sql SUCCESSOR = Sql.of("SELECT FROM holdfast.job WHERE id = :successor");

  /**
   * What became of a command.
   *
   * @param queue that of a job which was requeued for it, or which waits no longer
   */
  public record Commanded(JobCommand.Outcome outcome, @Nullable String queue) {}

  private Commands() {}

  /** In one transaction. */
  public static Commanded command(
      Connection connection, JobId job, JobCommand command, Tenant tenant) throws SQLException {
    Optional<JobState> state = LockJob.stateOf(connection, job, tenant);
    Answer answer =
        state.isEmpty() ? Answer.NO_SUCH_JOB : checked(connection, job, state.get(), command);
    String queue = null;
    if (answer == Answer.ACCEPTED && state.get().isTerminal()) {
      List<Retry.Retried> back = Retry.toStep(connection, job);
      if (back.isEmpty()) {
        // Its payload could not be read, and was taken out.
        return new Commanded(JobCommand.Outcome.refused(Answer.ALREADY_TERMINAL), null);
      }
      queue = back.getFirst().queue();
    }
    if (answer != Answer.ACCEPTED) {
      return new Commanded(JobCommand.Outcome.refused(answer), null);
    }
    List<String> stepsToRepeat = stepsToRepeat(connection, job, command);
    carryOut(connection, job, command);
    asked(TELL.on(connection), job, command)
        .set("type", EventType.CONTROL + command.action().text())
        .set("action", command.action().text())
        .set("step", command.stepId())
        .array("stepsToRepeat", "text", stepsToRepeat, id -> id)
        .update();
    if (state.get() == JobState.WAITING && command.action().isRecovery()) {
      queue =
          CALL_AGAIN
              .on(connection)
              .set("job", job)
              .first(row -> row.getString("queue"))
              .orElse(null);
    }
    // Read here: once this is committed, a worker may handle it at any moment.
    return new Commanded(
        new JobCommand.Outcome(answer, of(connection, job), stepsToRepeat(connection, job)), queue);
  }

  private static List<String> stepsToRepeat(Connection connection, JobId job, JobCommand command)
      throws SQLException {
    if (!command.action().dropsCheckpoints()) {
      return List.of();
    }
    int from = step(connection, job, command).getFirst().index();
    return DONE_FROM
        .on(connection)
        .set("job", job)
        .set("from", from)
        .list(row -> row.getString("step_id"));
  }

  /** Completed steps that run again once the pending command is handled. */
  private static List<String> stepsToRepeat(Connection connection, JobId job) throws SQLException {
    List<String> dropping =
        Stream.of(CommandAction.values())
            .filter(CommandAction::dropsCheckpoints)
            .map(CommandAction::text)
            .toList();
    return DROPS
        .on(connection)
        .set("job", job)
        .array("dropping", "text", dropping, text -> text)
        .list(row -> row.getString("step_id"));
  }

  private static List<Step> step(Connection connection, JobId job, JobCommand command)
      throws SQLException {
    return STEP.on(connection)
        .set("job", job)
        .set("step", command.stepId())
        .list(
            row ->
                new Step(
                    row.getInt("place"),
                    row.getString("state"),
                    row.getInt("done_before"),
                    row.getBoolean("has_workspace")));
  }

  private static Answer checked(
      Connection connection, JobId job, JobState state, JobCommand command) throws SQLException {
    boolean accepts = command.action() == CommandAction.ACCEPT_STEP;
    if (state.isTerminal() && (accepts || !command.action().isRecovery())) {
      return Answer.ALREADY_TERMINAL;
    }
    if (state == JobState.SUCCEEDED
        && SUCCESSOR.on(connection).set("successor", JobId.ofSuccessor(job)).found()) {
      return Answer.CONTINUED;
    }
    if (command.action() == CommandAction.TAKEOVER && state != JobState.RUNNING) {
      return Answer.NOT_RUNNING;
    }
    if (!command.action().isRecovery()) {
      return command.action() == CommandAction.RESUME || mayHaveSteps(connection, job)
          ? Answer.ACCEPTED
          : Answer.NO_STEPS;
    }
    List<Step> found = step(connection, job, command);
    if (found.isEmpty()) {
      return Answer.NO_SUCH_STEP;
    }
    Step step = found.getFirst();
    if (step.doneBefore() < step.index() - 1) {
      return Answer.STEP_NOT_REACHED;
    }
    if (step.state().equals("DONE") && !command.action().dropsCheckpoints()) {
      return Answer.STEP_DONE;
    }
    if (accepts && !step.hasWorkspace()) {
      return Answer.NO_WORKSPACE;
    }
    return accepts && !of(connection, job).takeover() ? Answer.NOT_TAKEN_OVER : Answer.ACCEPTED;
  }

  private static boolean mayHaveSteps(Connection connection, JobId job) throws SQLException {
    return MAY_HAVE_STEPS
        .on(connection)
        .set("job", job)
        .only(row -> row.getBoolean("may_have_steps"));
  }

  private static void carryOut(Connection connection, JobId job, JobCommand command)
      throws SQLException {
    switch (command.action()) {
      case PAUSE, TAKEOVER ->
          asked(HOLD_UP.on(connection), job, command)
              .set("paused", command.action() == CommandAction.PAUSE)
              .set("takeover", command.action() == CommandAction.TAKEOVER)
              .update();
      case RESUME -> RESUME.on(connection).set("job", job).update();
      case ACCEPT_STEP -> askForStep(ACCEPT.on(connection), job, command);
      case RETRY_STEP, HARD_RESET_STEP, RESUME_FROM_STEP ->
          askForStep(RECOVER.on(connection), job, command);
    }
  }

  private static void askForStep(Sql.Call call, JobId job, JobCommand command) throws SQLException {
    asked(call, job, command)
        .set("action", command.action().text())
        .set("step", command.stepId())
        .update();
  }

  private static Sql.Call asked(Sql.Call call, JobId job, JobCommand command) {
    return call.set("job", job)
        .set("requestedBy", command.requestedBy())
        .set("reason", command.reason());
  }

  /** A command that came after the handled one stays. */
  public static void removeHandled(Connection connection, JobId job, Instant requestedAt)
      throws SQLException {
    REMOVE_HANDLED.on(connection).set("job", job).set("requestedAt", requestedAt).update();
  }

  /** From columns named as in the table, all null where nothing is asked. */
  public static PendingCommand read(ResultSet row) throws SQLException {
    String action = row.getString("action");
    String requestedBy = row.getString("requested_by");
    String reason = row.getString("reason");
    return new PendingCommand(
        row.getBoolean("paused"),
        row.getBoolean("takeover"),
        action == null
            ? null
            : new PendingCommand.Recovery(
                CommandAction.of(action),
                row.getString("step_id"),
                requestedBy,
                reason,
                Rows.instant(row, "requested_at")),
        action != null || requestedBy == null
            ? null
            : new PendingCommand.HeldBy(requestedBy, reason));
  }

  /** Of those jobs that have one. */
  public static Map<JobId, Background> backgrounds(Connection connection, List<JobId> jobs)
      throws SQLException {
    Map<JobId, Background> found = new HashMap<>();
    BACKGROUNDS
        .on(connection)
        .array("jobs", "uuid", jobs, id -> id)
        .list(
            row ->
                found.put(
                    Rows.id(row, "id"),
                    new Background(
                        read(row),
                        FailureJson.read(row.getString("failure")),
                        Rows.instantOrNull(row, "deadline"))));
    return found;
  }

  public static PendingCommand of(Connection connection, JobId job) throws SQLException {
    return OF_JOB.on(connection).set("job", job).first(Commands::read).orElse(PendingCommand.NONE);
  }
}
