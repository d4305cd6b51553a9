package dev.holdfast.queue.wait;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Enqueues the jobs that a handler starts, once: their ids follow from the job, the id under which
 * it starts them and their place among them. An attempt that no longer holds the job starts none.
 */
public final class StartChildren {
  private static final Sql PARENT =
      Sql.of(
          """
          SELECT j.queue, j.priority, j.tenant, j.workspace, j.run_id,
                 coalesce(s.state = 'DONE', false) AS done,
                 (SELECT count(*) FROM holdfast.step o
                   WHERE o.job_id = j.id AND o.step_id <> :step) AS others
            FROM holdfast.job j
            LEFT JOIN holdfast.step s ON s.job_id = j.id AND s.step_id = :step
           WHERE j.id = :job
          """);

  // An attempt that was cut off between the parts may have given them other contents.
  private static final Sql THERE =
      Sql.of("SELECT j.id FROM holdfast.job j WHERE j.id = ANY (:jobs::uuid[])");

  private static final Sql KEEP =
      Sql.of(
          """
          WITH counted AS (
            UPDATE holdfast.job j SET event_count = j.event_count + 1
             WHERE j.id = :job
            RETURNING j.id, j.attempt, j.event_count
          ), event_inserted AS (
            ${event}
          )
          ${keep}
          """,
          "event",
          EventSql.append(
              "j.event_count",
              "'children:started'",
              "jsonb_build_object('stepId', :step::text, 'jobs', :count::int4)",
              "counted j"),
          "keep",
          Sql.fragment(
              WakeSql.KEEP,
              "row",
              "c.id, :step, :index, 'DONE', 1, c.attempt, NULL::jsonb, "
                  + WakeSql.ended("'CHILDREN'", "'STARTED'", ", 'jobs', :count::int4")
                  + ", clock_timestamp()",
              "from",
              "counted c"));

  private record Parent(
      JobDefaults defaults,
      String tenant,
      String workspace,
      JobId run,
      boolean done,
      int otherSteps) {
    static Parent read(ResultSet row) throws SQLException {
      return new Parent(
          new JobDefaults(row.getString("queue"), row.getInt("priority"), null, null, null),
          row.getString("tenant"),
          row.getString("workspace"),
          Rows.id(row, "run_id"),
          row.getBoolean("done"),
          row.getInt("others"));
    }
  }

  private StartChildren() {}

  /** In one transaction. */
  public static Ack some(Connection connection, Enqueue enqueue, Children children)
      throws SQLException {
    Lease lease = children.lease();
    if (!FenceSql.hold(connection, lease)) {
      return Ack.LEASE_LOST;
    }
    Parent parent =
        PARENT.on(connection).set("job", lease.job()).set("step", children.id()).only(Parent::read);
    if (parent.done()) {
      return Ack.ACCEPTED;
    }
    if (parent.otherSteps() >= Limits.STEPS) {
      throw new RefusedException(
          Refusal.BAD_LIMIT, "a job has %,d steps and waits at most".formatted(Limits.STEPS));
    }
    enqueue(connection, enqueue, children, parent);
    // Also of no jobs at all: an operator sends jobs back to what comes after.
    if (children.count() > 0 || children.jobs().isEmpty()) {
      KEEP.on(connection)
          .set("job", lease.job())
          .set("step", children.id())
          .set("index", children.index())
          .set("count", children.count())
          .update();
    }
    return Ack.ACCEPTED;
  }

  private static void enqueue(
      Connection connection, Enqueue enqueue, Children children, Parent parent)
      throws SQLException {
    List<Job> jobs = children.jobs();
    Set<JobId> there =
        new HashSet<>(
            THERE
                .on(connection)
                .array("jobs", "uuid", jobs, Job::id)
                .list(row -> Rows.id(row, "id")));
    List<Job> missing =
        jobs.stream()
            .filter(job -> !there.contains(job.id()))
            .map(job -> of(parent, job, enqueue, children))
            .toList();
    if (!missing.isEmpty()) {
      enqueue.all(connection, missing);
    }
  }

  /** With what a child has from its parent. */
  private static Job of(Parent parent, Job job, Enqueue enqueue, Children children) {
    return enqueue
        .declared(job)
        .or(parent.defaults())
        .owner(parent.tenant(), parent.workspace())
        .run(parent.run(), children.id())
        .startedBy(children.lease().job(), children.id());
  }
}
