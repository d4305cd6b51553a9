package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Job;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.notify.QueueNotifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes jobs without options, in a statement that costs the server half of what {@link InsertJobs}
 * does: four arrays instead of one for each column, and no search for a job of the same id. A job
 * that exists already is an error here, and the caller then takes the general way.
 */
final class EnqueueFast {
  // The arrays come through a subquery so that the planner does not know how long they are: it
  // would prefer a plan for arrays of one element, and make that plan anew each time.
  private static final String INSERT =
      """
      INSERT INTO holdfast.job
             (id, run_id, queue, kind, run_key, payload, state, run_at, created_at, priority,
              max_attempts, max_crashes, tenant, workspace)
      SELECT n.id, n.id, n.queue, n.kind, n.kind, n.payload::jsonb, 'PENDING',
             statement_timestamp(), statement_timestamp(), input.priority,
             input.max_attempts, input.max_crashes, input.tenant, input.workspace
        FROM (SELECT :id::uuid[] AS ids, :queue::text[] AS queues, :kind::text[] AS kinds,
                     :payload::text[] AS payloads, :priority::int2 AS priority,
                     :maxAttempts::int4 AS max_attempts, :maxCrashes::int4 AS max_crashes,
                     :tenant::text AS tenant, :workspace::text AS workspace
              OFFSET 0) AS input,
             unnest(input.ids, input.queues, input.kinds, input.payloads)
               AS n(id, queue, kind, payload)
      """;

  // For one job, which is what most callers enqueue: no arrays to take apart.
  private static final String INSERT_ONE =
      """
      INSERT INTO holdfast.job
             (id, run_id, queue, kind, run_key, payload, state, run_at, created_at, priority,
              max_attempts, max_crashes, tenant, workspace)
      VALUES (:id, :id, :queue, :kind, :kind, :payload::jsonb, 'PENDING',
              statement_timestamp(), statement_timestamp(), :priority::int2,
              :maxAttempts, :maxCrashes, :tenant, :workspace)
      """;

  private static final String NOTIFY =
      Sql.fragment(
          "RETURNING pg_notify('${channel}' || queue, :sender)",
          "channel",
          QueueNotifier.channel(""));

  private static final Sql ALL = Sql.of(INSERT);
  private static final Sql ALL_AND_NOTIFY = Sql.of(INSERT + NOTIFY);
  private static final Sql ONE = Sql.of(INSERT_ONE);
  private static final Sql ONE_AND_NOTIFY = Sql.of(INSERT_ONE + NOTIFY);

  private static final Set<JobColumn> ARRAYS =
      EnumSet.of(JobColumn.ID, JobColumn.QUEUE, JobColumn.KIND, JobColumn.PAYLOAD);

  private EnqueueFast() {}

  /** Whether none has options, and all are alike in what the statement says once for all. */
  static boolean fits(List<EncodedJob> jobs) {
    return !jobs.isEmpty()
        && jobs.stream().allMatch(each -> fits(each.job(), jobs.getFirst().job()));
  }

  private static boolean fits(Job job, Job like) {
    return job.unique() == null
        && job.dependsOn().isEmpty()
        && job.delay().isZero()
        && job.runAt() == null
        && job.timeout() == null
        && job.deadline() == null
        && job.concurrencyKey() == null
        && job.parent() == null
        && !job.hasAttributes()
        && job.run().equals(job.id())
        && job.runKey().equals(job.kind())
        && job.priority() == like.priority()
        && Objects.equals(job.maxAttempts(), like.maxAttempts())
        && job.maxCrashes() == like.maxCrashes()
        && job.tenant().equals(like.tenant())
        && job.workspace().equals(like.workspace());
  }

  /**
   * False when the general way is needed; then nothing has been written.
   *
   * @param sender with which the same commit notifies the queues; null when it does not
   */
  static boolean insert(Connection connection, List<EncodedJob> jobs, @Nullable String sender)
      throws SQLException {
    try {
      write(connection, jobs, sender);
      return true;
    } catch (SQLException e) {
      if (SqlErrors.isBadData(e)) {
        throw InsertJobs.notStorable(jobs, e);
      }
      if (SqlErrors.isThereAlready(e) || (sender != null && SqlErrors.isOverLimit(e))) {
        return false;
      }
      throw e;
    }
  }

  private static void write(Connection connection, List<EncodedJob> jobs, @Nullable String sender)
      throws SQLException {
    Job like = jobs.getFirst().job();
    Sql.Call call =
        (jobs.size() == 1
                ? one(connection, jobs.getFirst(), sender)
                : all(connection, jobs, sender))
            .set("priority", like.priority())
            .set("maxAttempts", like.maxAttempts())
            .set("maxCrashes", like.maxCrashes())
            .set("tenant", like.tenant())
            .set("workspace", like.workspace());
    if (sender == null) {
      call.update();
    } else {
      call.set("sender", sender).list(row -> "");
    }
  }

  private static Sql.Call one(Connection connection, EncodedJob only, @Nullable String sender) {
    return (sender == null ? ONE : ONE_AND_NOTIFY)
        .on(connection)
        .set("id", only.id())
        .set("queue", only.job().queue())
        .set("kind", only.job().kind())
        .set("payload", only.payload());
  }

  private static Sql.Call all(Connection connection, List<EncodedJob> jobs, @Nullable String sender)
      throws SQLException {
    List<EncodedJob> sorted = jobs.stream().sorted(EncodedJob.ORDER).toList();
    return JobColumn.bind((sender == null ? ALL : ALL_AND_NOTIFY).on(connection), sorted, ARRAYS);
  }
}
