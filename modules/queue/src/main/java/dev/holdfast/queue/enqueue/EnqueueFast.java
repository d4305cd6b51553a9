package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.notify.QueueNotifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes jobs that ask for nothing special, in a statement that costs the server half of what the
 * general one does: four arrays instead of twenty-three, and no look whether a job is there before
 * it is written. One that is there already is an error here; the general statement then sorts it
 * out.
 */
final class EnqueueFast {
  // The arrays come through a subquery so that the planner does not know how long they are. It
  // would take a plan for arrays of one element for a better one, and make it anew each time.
  private static final String SQL =
      """
      INSERT INTO holdfast.job
             (id, run_id, queue, kind, run_key, payload, state, run_at, created_at, priority,
              max_attempts, max_crashes, tenant, workspace)
      SELECT n.id, n.id, n.queue, n.kind, n.kind, n.payload::jsonb, 'PENDING',
             statement_timestamp(), statement_timestamp(), input.priority,
             input.max_attempts, input.max_crashes, input.tenant, input.workspace
        FROM (SELECT ?::uuid[] AS ids, ?::text[] AS queues, ?::text[] AS kinds,
                     ?::text[] AS payloads, ?::int2 AS priority, ?::int4 AS max_attempts,
                     ?::int4 AS max_crashes, ?::text AS tenant, ?::text AS workspace
              OFFSET 0) AS input,
             unnest(input.ids, input.queues, input.kinds, input.payloads)
               AS n(id, queue, kind, payload)
      """;

  private static final String SQL_THAT_RINGS =
      SQL + "RETURNING pg_notify('" + QueueNotifier.channel("") + "' || queue, '')";

  private EnqueueFast() {}

  /** Whether all of them are usual, and alike in what the statement says once for all. */
  static boolean fits(List<Job> jobs) {
    return !jobs.isEmpty() && jobs.stream().allMatch(job -> isUsual(job, jobs.getFirst()));
  }

  private static boolean isUsual(Job job, Job like) {
    return job.unique() == null
        && job.after().isEmpty()
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
   * @param rings whether the same commit tells waiting workers
   */
  static void insert(
      Connection connection, List<Job> jobs, Map<JobId, Json> payloads, boolean rings)
      throws SQLException {
    Job like = jobs.getFirst();
    @Nullable Object[] values = {
      Rows.array(connection, "uuid", jobs, Job::id),
      Rows.array(connection, "text", jobs, Job::queue),
      Rows.array(connection, "text", jobs, Job::kind),
      Rows.array(connection, "text", jobs, job -> payloads.get(job.id())),
      like.priority(),
      like.maxAttempts(),
      like.maxCrashes(),
      like.tenant(),
      like.workspace()
    };
    if (rings) {
      Rows.list(connection, row -> "", SQL_THAT_RINGS, values);
    } else {
      Rows.update(connection, SQL, values);
    }
  }
}
