package dev.holdfast.queue.wait;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.WaitJson;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.settle.EndAttemptSql;
import dev.holdfast.queue.sql.FenceSql;
import dev.holdfast.queue.sql.WaitEnds;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Ends attempts whose handlers wait for something, unless it is there already.
 *
 * <p>The job's row is locked first and then looked at what is there: whoever brings something locks
 * the same row, so either it is seen here, or it finds the job waiting.
 */
public final class Suspend {
  private static final String ASKED =
      """
      unnest(:jobs::uuid[], :attempts::int4[], :ids::text[], :indexes::int4[], :sorts::text[],
             :names::text[], :within::int8[], :untils::timestamptz[], :rest::text[])
        AS a(id, attempt, wait_id, step_index, sort, name, within_ms, until, rest)
      """;

  // The same attempt may have asked before, and not have had the answer.
  private static final Sql LOOK =
      Sql.of(
          """
          SELECT a.id, a.attempt, answered.ended IS NOT NULL AS answered, mailbox.number,
                 coalesce(answered.checkpoint, mailbox.payload) AS payload, end_of_wait.ended,
                 ${columns},
                 (SELECT count(*) FROM holdfast.step o
                   WHERE o.job_id = a.id AND o.step_id <> a.wait_id) AS others
            FROM ${asked}
            LEFT JOIN holdfast.step answered
                   ON answered.job_id = a.id AND answered.step_id = a.wait_id
                  AND answered.state = 'DONE' AND answered.job_attempt = a.attempt
            LEFT JOIN LATERAL (
              SELECT m.number, m.payload, m.sent_by, m.sent_at
                FROM holdfast.signal m
               WHERE m.job_id = a.id AND m.name = a.name AND m.taken_by IS NULL
               ORDER BY m.number
               LIMIT 1) AS mailbox ON a.sort = 'SIGNAL'
            LEFT JOIN LATERAL (
              SELECT ${children} AS ended) AS children ON a.sort = 'CHILDREN'
            LEFT JOIN LATERAL (
              SELECT coalesce(
                       answered.ended,
                       CASE WHEN mailbox.number IS NOT NULL THEN ${signal}
                            WHEN children.ended IS NOT NULL THEN children.ended
                            WHEN a.sort = 'SLEEP'
                                 AND (a.within_ms <= 0 OR a.until <= clock_timestamp()) THEN ${time}
                            WHEN a.within_ms <= 0 AND a.sort <> 'APPROVAL' THEN ${timeout}
                       END) AS ended) AS end_of_wait ON true
          """,
          "columns",
          WaitEnds.columns("end_of_wait.ended"),
          "signal",
          WakeSql.ended(
              "'SIGNAL'", "'SIGNAL'", ", 'by', nullif(mailbox.sent_by, ''), 'at', mailbox.sent_at"),
          "time",
          WakeSql.ended("'SLEEP'", "'TIME'", ""),
          "timeout",
          WakeSql.ended("a.sort", "'TIMEOUT'", ""),
          "asked",
          ASKED,
          "children",
          ChildrenSql.outcomeWithForks("a.id", "a.rest::jsonb"));

  private static final Sql TAKE =
      Sql.of(
          """
          WITH brought AS (
            SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[], :ids::text[], :indexes::int4[],
                                 :payloads::text[], :ended::text[], :numbers::int4[])
              AS b(id, attempt, wait_id, step_index, payload, ended, number)
          ), taken AS (
            UPDATE holdfast.signal m SET taken_by = b.wait_id
              FROM brought b
             WHERE m.job_id = b.id AND m.number = b.number
          )
          ${keep}
          """,
          "keep",
          Sql.fragment(
              WakeSql.KEEP,
              "row",
              """
              b.id, b.wait_id, b.step_index, 'DONE', 1, b.attempt, b.payload::jsonb,
                     b.ended::jsonb, clock_timestamp()
              """,
              "from",
              "brought b"));

  private static final Sql SUSPEND =
      EndAttemptSql.ofKnown(
          Sql.fragment(
              """
              WITH held AS MATERIALIZED (
                SELECT j.worker_id, clock_timestamp() AS since, a.*,
                       -- What an operator has asked for since the attempt began is done first.
                       CASE WHEN j.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                            WHEN EXISTS (SELECT FROM holdfast.job_command c
                                          WHERE c.job_id = j.id AND c.requested_at > j.started_at)
                            THEN 'PENDING' ELSE 'WAITING' END AS next
                  FROM ${asked} JOIN holdfast.job j ON j.id = a.id AND j.attempt = a.attempt
                 WHERE ${running}
                 ORDER BY j.id
                   FOR NO KEY UPDATE OF j
              ), waiting AS MATERIALIZED (
                SELECT h.*, coalesce(h.until, h.since + h.within_ms * interval '1 millisecond')
                         AS wake_at
                  FROM held h
              ), ending AS MATERIALIZED (
                SELECT w.id, w.attempt, w.worker_id, 'SUSPENDED' AS outcome, NULL::jsonb AS failure,
                       w.next,
                       0 AS failed, 0 AS crashed, NULL::jsonb AS job_failure,
                       NULL::timestamptz AS run_at, 'suspended' AS event,
                       CASE WHEN w.next = 'WAITING' THEN
                         jsonb_strip_nulls(jsonb_build_object(
                           'waitId', w.wait_id, 'sort', lower(w.sort), 'name', w.name,
                           'until', w.wake_at)) || w.rest::jsonb END AS data,
                       CASE WHEN w.next = 'WAITING' THEN w.sort END AS wait_sort,
                       CASE WHEN w.next = 'WAITING' THEN w.wake_at END AS wake_at,
                       CASE WHEN w.next = 'WAITING' THEN
                         jsonb_strip_nulls(jsonb_build_object(
                           'id', w.wait_id, 'index', w.step_index, 'name', w.name,
                           'since', w.since)) || w.rest::jsonb END AS wait
                  FROM waiting w
              )
              """,
              "asked",
              ASKED,
              "running",
              FenceSql.isRunning("j")),
          ", wait_sort = e.wait_sort, wake_at = e.wake_at, wait = e.wait");

  private record Seen(
      Lease lease,
      boolean answered,
      @Nullable Integer number,
      @Nullable Json payload,
      @Nullable Json ended,
      @Nullable WaitEnd end) {}

  private record Moved(JobId job, JobState state, String queue) {
    static Moved read(ResultSet row) throws SQLException {
      return new Moved(
          Rows.id(row, "id"), JobState.valueOf(row.getString("state")), row.getString("queue"));
    }
  }

  private Suspend() {}

  /**
   * In one transaction.
   *
   * @param answers gets an answer to each
   * @param cancelled gets the jobs that were cancelled instead: nothing waits for those that wait
   * @return those that held their jobs, or had been suspended before
   */
  public static Set<Lease> all(
      Connection connection,
      List<Suspension> asked,
      Map<Suspension, WaitAnswer> answers,
      Set<JobId> cancelled)
      throws SQLException {
    Set<Lease> held = FenceSql.hold(connection, asked.stream().map(Suspension::lease).toList());
    List<Suspension> holding = asked.stream().filter(each -> held.contains(each.lease())).toList();
    holding.forEach(answers::remove);
    if (!holding.isEmpty()) {
      Map<Lease, Seen> seen = look(connection, holding);
      take(connection, holding, seen, answers);
      suspend(connection, holding, answers, cancelled);
    }
    List<Suspension> late = asked.stream().filter(each -> !held.contains(each.lease())).toList();
    if (!late.isEmpty()) {
      Set<Lease> before =
          EndAttemptSql.before(
              connection, late.stream().map(Suspension::lease).toList(), AttemptOutcome.SUSPENDED);
      held.addAll(before);
      late.forEach(
          each ->
              answers.put(
                  each,
                  before.contains(each.lease()) ? WaitAnswer.SUSPENDED : WaitAnswer.LEASE_LOST));
    }
    return held;
  }

  private static Map<Lease, Seen> look(Connection connection, List<Suspension> holding)
      throws SQLException {
    Map<Lease, Seen> seen = new HashMap<>();
    bind(LOOK.on(connection), holding)
        .list(
            row -> {
              if (row.getInt("others") >= Limits.STEPS) {
                throw new RefusedException(
                    Refusal.BAD_LIMIT,
                    "a job has %,d steps and waits at most: one that goes on for ever ends with continueAs"
                        .formatted(Limits.STEPS));
              }
              Seen each =
                  new Seen(
                      Rows.lease(row),
                      row.getBoolean("answered"),
                      Rows.intOrNull(row, "number"),
                      Rows.jsonOrNull(row, "payload"),
                      Rows.jsonOrNull(row, "ended"),
                      WaitEnds.read(row));
              return seen.put(each.lease(), each);
            });
    return seen;
  }

  private static void take(
      Connection connection,
      List<Suspension> holding,
      Map<Lease, Seen> seen,
      Map<Suspension, WaitAnswer> answers)
      throws SQLException {
    Function<Suspension, Seen> of = each -> Objects.requireNonNull(seen.get(each.lease()));
    for (Suspension each : holding) {
      Seen there = of.apply(each);
      if (there.end() != null) {
        answers.put(each, new WaitAnswer.Over(there.end(), there.payload()));
      }
    }
    List<Suspension> taking =
        holding.stream()
            .filter(each -> answers.containsKey(each) && !of.apply(each).answered())
            .toList();
    if (!taking.isEmpty()) {
      TAKE.on(connection)
          .leases(taking.stream().map(Suspension::lease).toList())
          .array("ids", "text", taking, each -> each.asked().id())
          .array("indexes", "int4", taking, Suspension::index)
          .array("payloads", "text", taking, each -> of.apply(each).payload())
          .array("ended", "text", taking, each -> of.apply(each).ended())
          .array("numbers", "int4", taking, each -> of.apply(each).number())
          .update();
    }
  }

  private static void suspend(
      Connection connection,
      List<Suspension> holding,
      Map<Suspension, WaitAnswer> answers,
      Set<JobId> cancelled)
      throws SQLException {
    List<Suspension> waiting = holding.stream().filter(each -> !answers.containsKey(each)).toList();
    if (!waiting.isEmpty()) {
      List<Moved> moved = bind(SUSPEND.on(connection), waiting).list(Moved::read);
      moved.stream()
          .filter(each -> each.state() == JobState.CANCELLED)
          .map(Moved::job)
          .forEach(cancelled::add);
      List<String> again =
          moved.stream()
              .filter(each -> each.state() == JobState.PENDING)
              .map(Moved::queue)
              .distinct()
              .toList();
      if (!again.isEmpty()) {
        QueueNotifier.sendWith(connection, again);
      }
      waiting.forEach(each -> answers.put(each, WaitAnswer.SUSPENDED));
    }
  }

  private static Sql.Call bind(Sql.Call call, List<Suspension> asked) throws SQLException {
    return call.leases(asked.stream().map(Suspension::lease).toList())
        .array("ids", "text", asked, each -> each.asked().id())
        .array("indexes", "int4", asked, Suspension::index)
        .array("sorts", "text", asked, each -> each.asked().sort().name())
        .array(
            "names",
            "text",
            asked,
            each -> each.asked() instanceof Wait.ForSignal signal ? signal.name() : null)
        .array("within", "int8", asked, each -> each.asked().within())
        .array(
            "untils",
            "timestamptz",
            asked,
            each -> each.asked() instanceof Wait.SleepUntil sleep ? sleep.until() : null)
        .array("rest", "text", asked, each -> WaitJson.rest(each.asked()));
  }
}
