package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes jobs of any kind, all or none. A job whose id or unique key is taken is answered with the
 * job that has it.
 */
final class InsertJobs {
  // clock_timestamp() instead of now(): in a caller's transaction now() is when that began.
  private static final Sql INSERT =
      Sql.of(
          """
          INSERT INTO holdfast.job (${names}, state, created_at, run_at, unique_until)
          SELECT ${values},
                 CASE WHEN n.when_dependency_fails IS NULL THEN 'PENDING' ELSE 'WAITING' END,
                 clock.now,
                 coalesce(n.run_at, clock.now + n.delay_ms * interval '1 millisecond'),
                 clock.now + n.unique_ms * interval '1 millisecond'
            FROM ${rows},
                 (SELECT clock_timestamp() AS now) AS clock
          ON CONFLICT DO NOTHING
          RETURNING id
          """,
          "names",
          JobColumn.STORED_NAMES,
          "values",
          JobColumn.STORED_VALUES,
          "rows",
          JobColumn.INPUT_ROWS);

  // A job whose time window has passed loses its key to the next job that has it.
  private static final Sql RELEASE_OLD_KEYS =
      Sql.of(
          """
          WITH old AS MATERIALIZED (
            SELECT j.id
              FROM holdfast.job j
              JOIN unnest(:tenant::text[], :kind::text[], :unique_key::text[])
                     AS n(tenant, kind, unique_key)
                ON j.tenant = n.tenant AND j.kind = n.kind AND j.unique_key = n.unique_key
             WHERE j.unique_states > 0 AND j.unique_until <= clock_timestamp()
             ORDER BY j.id
               FOR NO KEY UPDATE OF j
          )
          UPDATE holdfast.job j
             SET unique_states = 0
            FROM old
           WHERE j.id = old.id AND j.unique_states > 0
          """);

  private static final Set<JobColumn> KEY =
      EnumSet.of(JobColumn.TENANT, JobColumn.KIND, JobColumn.UNIQUE_KEY);

  private static final Sql RESOLVE =
      Sql.of(
          """
          SELECT n.id AS asked, coalesce(own.id, holder.id) AS id
            FROM unnest(:id::uuid[], :tenant::text[], :kind::text[], :unique_key::text[])
                   AS n(id, tenant, kind, unique_key)
            LEFT JOIN holdfast.job own ON own.id = n.id
            LEFT JOIN holdfast.job holder
                   ON holder.tenant = n.tenant AND holder.kind = n.kind
                  AND holder.unique_key = n.unique_key AND holder.unique_states > 0
           WHERE coalesce(own.id, holder.id) IS NOT NULL
          """);

  private static final Set<JobColumn> ID_AND_KEY =
      EnumSet.of(JobColumn.ID, JobColumn.TENANT, JobColumn.KIND, JobColumn.UNIQUE_KEY);

  // Compares what a job is enqueued with and keeps: not what a retry or a crash may change, nor
  // times, because a delay that is sent again after a lost answer ends at another moment. Nor the
  // trace, in which the second enqueue may be another span.
  private static final Sql OTHERS_OF_THE_ID =
      Sql.of(
          """
          SELECT n.id
            FROM ${rows}
            JOIN holdfast.job own ON own.id = n.id
           WHERE (${names}) IS DISTINCT FROM (${values})
              OR coalesce(own.attributes - 'traceparent', '{}')
                 IS DISTINCT FROM coalesce(n.attributes::jsonb - 'traceparent', '{}')
          """,
          "rows",
          JobColumn.INPUT_ROWS,
          "names",
          JobColumn.COMPARED_NAMES,
          "values",
          JobColumn.COMPARED_VALUES);

  private static final int TRIES = 5;

  private InsertJobs() {}

  static List<Enqueued> all(Connection connection, List<EncodedJob> jobs) throws SQLException {
    Dependencies.check(jobs.stream().map(EncodedJob::job).toList());
    Deadlines.check(connection, jobs);
    Map<JobId, JobId> resolvedId = new HashMap<>();
    List<EncodedJob> written = new ArrayList<>();
    List<EncodedJob> left = jobs.stream().sorted(EncodedJob.ORDER).toList();
    // The holder of a key may end between the insert and the lookup: then the key is free.
    for (int tries = 1; !left.isEmpty(); tries++) {
      if (tries > TRIES) {
        throw new DatabaseException(
            DatabaseException.Reason.UNAVAILABLE,
            "enqueue: uniqueKey '"
                + left.getFirst().uniqueKey()
                + "' was taken and released repeatedly: retry",
            null);
      }
      insert(connection, left, resolvedId);
      written.addAll(without(left, resolvedId, false));
      List<EncodedJob> skipped = without(left, resolvedId, true);
      lookUp(connection, skipped, resolvedId);
      left = without(skipped, resolvedId, true);
    }
    Dependencies.write(connection, written.stream().map(EncodedJob::job).toList(), resolvedId);
    return jobs.stream()
        .map(
            each -> {
              JobId id = resolvedId.getOrDefault(each.id(), each.id());
              return new Enqueued(id, !id.equals(each.id()));
            })
        .toList();
  }

  /** The jobs that have no resolved id yet, or the others. */
  private static List<EncodedJob> without(
      List<EncodedJob> jobs, Map<JobId, JobId> resolvedId, boolean missing) {
    return jobs.stream().filter(each -> resolvedId.containsKey(each.id()) != missing).toList();
  }

  /** Inserts the jobs whose id and key are free; the resolved id of each is its own. */
  private static void insert(
      Connection connection, List<EncodedJob> jobs, Map<JobId, JobId> resolvedId)
      throws SQLException {
    List<EncodedJob> unique = jobs.stream().filter(EncodedJob::isUnique).toList();
    try {
      if (!unique.isEmpty()) {
        JobColumn.bind(RELEASE_OLD_KEYS.on(connection), unique, KEY).update();
      }
      for (JobId id :
          JobColumn.bindAll(INSERT.on(connection), jobs).listByKey(row -> Rows.id(row, "id"))) {
        resolvedId.put(id, id);
      }
    } catch (SQLException e) {
      if (SqlErrors.isBadData(e)) {
        throw notStorable(jobs, e);
      }
      if (SqlErrors.isLockNotFree(e) && !unique.isEmpty()) {
        throw keyHeld(unique, e);
      }
      throw e;
    }
  }

  /** Finds the jobs that have the ids or the keys of those that were not inserted. */
  private static void lookUp(
      Connection connection, List<EncodedJob> skipped, Map<JobId, JobId> resolvedId)
      throws SQLException {
    if (skipped.isEmpty()) {
      return;
    }
    record Holder(JobId asked, JobId id) {}
    JobColumn.bind(RESOLVE.on(connection), skipped, ID_AND_KEY)
        .list(row -> new Holder(Rows.id(row, "asked"), Rows.id(row, "id")))
        .forEach(holder -> resolvedId.put(holder.asked(), holder.id()));
    List<EncodedJob> again =
        skipped.stream().filter(each -> each.id().equals(resolvedId.get(each.id()))).toList();
    if (!again.isEmpty()) {
      mustBeTheSame(connection, again);
    }
  }

  /** The same id again is the same enqueue sent twice, unless the content differs. */
  private static void mustBeTheSame(Connection connection, List<EncodedJob> jobs)
      throws SQLException {
    List<JobId> others =
        JobColumn.bindAll(OTHERS_OF_THE_ID.on(connection), jobs).list(row -> Rows.id(row, "id"));
    if (!others.isEmpty()) {
      throw RefusedException.idTaken(others.getFirst());
    }
  }

  static RefusedException notStorable(List<EncodedJob> jobs, SQLException error) {
    String which =
        jobs.size() == 1
            ? "the payload of job " + jobs.getFirst().id()
            : "a payload among these " + jobs.size() + " jobs";
    if (jobs.stream().anyMatch(each -> each.job().resources() != null)) {
      which += ", or the resources,";
    }
    RefusedException refused =
        new RefusedException(
            Refusal.PAYLOAD_NOT_JSON,
            which + " is not JSON that PostgreSQL can store; nothing was enqueued");
    refused.initCause(error);
    return refused;
  }

  /** The unique index makes the second insert of a key wait for the first one's transaction. */
  private static DatabaseException keyHeld(List<EncodedJob> unique, SQLException error) {
    EncodedJob first = unique.getFirst();
    String which =
        unique.size() == 1
            ? "the unique key '%s' of kind '%s'".formatted(first.uniqueKey(), first.job().kind())
            : "one of these %d unique keys, '%s' … '%s',"
                .formatted(unique.size(), first.uniqueKey(), unique.getLast().uniqueKey());
    return new DatabaseException(
        DatabaseException.Reason.UNIQUE_KEY_HELD,
        "%s is held by another open transaction, and did not come free in time; nothing was enqueued: try again once that transaction has ended, and keep transactions short that enqueue"
            .formatted(which),
        error);
  }
}
