package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.RunGraph;
import dev.holdfast.model.search.RunPage;
import dev.holdfast.model.search.RunSummary;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FailureSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads runs: jobs that name the same run. A job that is a run by itself is not listed as one. */
public final class JobsOfRuns {
  private static final int MOST_COUNTED = 1_000;
  private static final int MOST_WALKED = 10_000;
  private static final Duration TIMEOUT = Duration.ofMillis(400);
  private static final JobCursor AFTER_ALL = JobCursor.at(Instant.parse("9999-12-31T00:00:00Z"));

  /** A run, and where it stands in the list. */
  private record Listed(JobId run, JobCursor newest, Optional<RunSummary> summary) {}

  // The run's first job is not in the index of runs: its own id is the run's. It is found by that.
  private static final String COUNTED =
      """
      SELECT r.*, c.*
        FROM runs r
       CROSS JOIN LATERAL (
         SELECT count(*) AS jobs, min(s.created_at) AS created_at, min(s.started_at) AS started_at,
                max(s.finished_at) AS finished_at, (array_agg(s.kind ORDER BY s.created_at, s.id))[1] AS kind,
                ${states}
           FROM ((SELECT j.id, j.kind, j.state, j.created_at, j.started_at, j.finished_at
                    FROM holdfast.job j
                   WHERE j.run_id = r.run_id AND j.run_id <> j.id AND ${tenant}
                   ORDER BY j.tenant, j.created_at, j.id
                   LIMIT :counted)
                 UNION ALL
                 SELECT j.id, j.kind, j.state, j.created_at, j.started_at, j.finished_at
                   FROM holdfast.job j
                  WHERE j.id = r.run_id AND j.run_id = j.id AND ${tenant}) AS s) AS c
      """;

  private static final String STATES =
      Stream.of(JobState.values())
          .map("count(*) FILTER (WHERE s.state = '%1$s') AS \"%1$s\""::formatted)
          .collect(Collectors.joining(", "));

  private static final String TENANTS =
      """
      WITH RECURSIVE t AS (
        (SELECT n.tenant FROM holdfast.job n
          WHERE n.run_id = w.run_id AND n.run_id <> n.id ORDER BY n.tenant LIMIT 1)
        UNION ALL
        SELECT (SELECT n.tenant FROM holdfast.job n
                 WHERE n.run_id = w.run_id AND n.run_id <> n.id AND n.tenant > t.tenant
                 ORDER BY n.tenant LIMIT 1)
          FROM t WHERE t.tenant IS NOT NULL
      )
      SELECT t.tenant FROM t WHERE t.tenant IS NOT NULL
      """;

  // Jobs of runs, the newest first: a run stands where its newest job does, so that nobody places
  // one by the id that was chosen for it. One whose newest job is on an earlier page was listed
  // there. The index looks for that job tenant by tenant.
  private static final ByTenant LIST =
      ByTenant.of(
          """
          WITH walked AS MATERIALIZED (
            SELECT j.run_id, j.tenant, j.created_at, j.id FROM holdfast.job j
             WHERE j.run_id <> j.id AND (j.created_at, j.id) < (:time, :id) AND ${tenant}
             ORDER BY j.created_at DESC, j.id DESC
             LIMIT :walked
          ), newest AS MATERIALIZED (
            SELECT DISTINCT ON (run_id) run_id, tenant, created_at, id
              FROM walked
             WHERE run_id <> ALL (:listed::uuid[])
             ORDER BY run_id, created_at DESC, id DESC
          ), runs AS MATERIALIZED (
            SELECT w.run_id, w.created_at AS newest_at, w.id AS newest_id
              FROM newest w
             WHERE NOT EXISTS (
                     SELECT FROM (${tenants}) AS o (tenant)
                      CROSS JOIN LATERAL (
                        SELECT n.id FROM holdfast.job n
                         WHERE n.run_id = w.run_id AND n.run_id <> n.id AND n.tenant = o.tenant
                           AND (n.created_at, n.id) >= (:firstTime, :firstId)
                         ORDER BY n.created_at DESC, n.id DESC LIMIT 1) AS earlier)
             ORDER BY w.created_at DESC, w.id DESC
             LIMIT :most
          )
          """
              + COUNTED
              + " ORDER BY r.newest_at DESC, r.newest_id DESC",
          "states",
          STATES);

  private static final ByTenant WALKED =
      ByTenant.of(
          """
          SELECT j.created_at, j.id FROM holdfast.job j
           WHERE j.run_id <> j.id AND (j.created_at, j.id) < (:time, :id) AND ${tenant}
           ORDER BY j.created_at DESC, j.id DESC
           LIMIT 1 OFFSET :walked - 1
          """);

  private static final ByTenant ONE =
      ByTenant.of("WITH runs AS (SELECT :run::uuid AS run_id) " + COUNTED, "states", STATES);

  private static final ByTenant MEMBERS =
      ByTenant.of(
          """
          WITH members AS MATERIALIZED (
            SELECT j.id FROM holdfast.job j
             WHERE j.run_id = :run AND j.run_id <> j.id AND ${tenant}
             ORDER BY j.tenant, j.created_at, j.id
             LIMIT :most
          )
          SELECT j.id, j.kind, j.run_key, j.queue, j.state, j.attempt, j.progress, j.parent_id,
                 j.created_at, j.started_at, j.finished_at, ${code} AS failure_code
            FROM holdfast.job j
           WHERE j.id = ANY (ARRAY(SELECT id FROM members) || :run::uuid)
             AND j.run_id = :run AND ${tenant}
           ORDER BY j.created_at, j.id
           LIMIT :most
          """,
          "code",
          FailureSql.CODE);

  private static final Sql EDGES =
      Sql.of(
          """
          SELECT d.job_id, d.depends_on_id FROM holdfast.dependency d
           WHERE d.job_id = ANY (:jobs::uuid[]) AND d.depends_on_id = ANY (:jobs::uuid[])
           ORDER BY d.job_id, d.depends_on_id
          """);

  /**
   * A statement for all tenants, and one for a tenant: only a plain condition is looked up in the
   * index, so that a large run of another tenant is not read through.
   */
  private record ByTenant(Sql all, Sql ofOne) {
    static ByTenant of(String template, String... fragments) {
      String place = "${tenant}";
      return new ByTenant(
          Sql.of(template.replace(place, "true").replace("${tenants}", TENANTS), fragments),
          Sql.of(
              template
                  .replace(place, TenantSql.isOfOne("j"))
                  .replace("${tenants}", "SELECT w.tenant"),
              fragments));
    }

    Sql.Call on(Connection connection, Tenant tenant) {
      return tenant.isAny() ? all.on(connection) : ofOne.on(connection).tenant(tenant);
    }
  }

  private JobsOfRuns() {}

  /**
   * The newest runs; of a tenant, those that have a job of it. A page is shorter than it could be
   * when its time is over: the jobs of a large run are read one by one.
   *
   * @param before runs older than this; null for the newest
   */
  public static RunPage page(
      Connection connection, Tenant tenant, @Nullable JobCursor before, int most)
      throws SQLException {
    long began = System.nanoTime();
    JobCursor first = before == null ? AFTER_ALL : before;
    JobCursor walked = first;
    List<Listed> listed = new ArrayList<>();
    do {
      listed.addAll(
          LIST.on(connection, tenant)
              .set("time", walked.createdAt())
              .set("id", walked.id())
              .set("firstTime", first.createdAt())
              .set("firstId", first.id())
              .array("listed", "uuid", listed, Listed::run)
              .set("most", most - listed.size())
              .set("walked", MOST_WALKED)
              .set("counted", MOST_COUNTED)
              .listByKey(JobsOfRuns::listed));
      if (listed.size() == most) {
        return page(listed, listed.getLast().newest());
      }
      Optional<JobCursor> stopped =
          WALKED
              .on(connection, tenant)
              .set("time", walked.createdAt())
              .set("id", walked.id())
              .set("walked", MOST_WALKED)
              .listByKey(Rows::cursor)
              .stream()
              .findFirst();
      if (stopped.isEmpty()) {
        return page(listed, null);
      }
      walked = stopped.get();
    } while (System.nanoTime() - began < TIMEOUT.toNanos());
    return page(listed, walked);
  }

  private static RunPage page(List<Listed> listed, @Nullable JobCursor next) {
    return new RunPage(listed.stream().flatMap(each -> each.summary().stream()).toList(), next);
  }

  private static Listed listed(ResultSet row) throws SQLException {
    return new Listed(
        Rows.id(row, "run_id"),
        new JobCursor(Rows.instant(row, "newest_at"), Rows.id(row, "newest_id")),
        summary(row));
  }

  /** Empty if no job that the tenant may see has this run. */
  public static Optional<RunGraph> graph(Connection connection, Tenant tenant, JobId run)
      throws SQLException {
    Optional<RunSummary> summary =
        ONE.on(connection, tenant)
            .set("run", run)
            .set("counted", MOST_COUNTED)
            .listByKey(JobsOfRuns::summary)
            .getFirst();
    if (summary.isEmpty()) {
      return Optional.empty();
    }
    List<RunGraph.Node> jobs =
        MEMBERS
            .on(connection, tenant)
            .set("run", run)
            .set("most", RunGraph.MOST)
            .listByKey(JobsOfRuns::node);
    List<RunGraph.Edge> edges =
        EDGES
            .on(connection)
            .array("jobs", "uuid", jobs, RunGraph.Node::id)
            .list(row -> new RunGraph.Edge(Rows.id(row, "job_id"), Rows.id(row, "depends_on_id")));
    return Optional.of(new RunGraph(summary.get(), jobs, edges));
  }

  private static Optional<RunSummary> summary(ResultSet row) throws SQLException {
    long jobs = row.getLong("jobs");
    if (jobs == 0) {
      return Optional.empty();
    }
    Map<JobState, Long> states = new EnumMap<>(JobState.class);
    for (JobState state : JobState.values()) {
      long count = row.getLong(state.name());
      if (count > 0) {
        states.put(state, count);
      }
    }
    JobState state = RunSummary.stateOf(states);
    return Optional.of(
        new RunSummary(
            Rows.id(row, "run_id"),
            row.getString("kind"),
            state,
            jobs,
            states,
            jobs >= MOST_COUNTED,
            Rows.instant(row, "created_at"),
            Rows.instantOrNull(row, "started_at"),
            state.isTerminal() ? Rows.instantOrNull(row, "finished_at") : null));
  }

  private static RunGraph.Node node(ResultSet row) throws SQLException {
    return new RunGraph.Node(
        Rows.id(row, "id"),
        row.getString("kind"),
        row.getString("run_key"),
        row.getString("queue"),
        JobState.valueOf(row.getString("state")),
        row.getInt("attempt"),
        Rows.intOrNull(row, "progress"),
        Rows.idOrNull(row, "parent_id"),
        Rows.instant(row, "created_at"),
        Rows.instantOrNull(row, "started_at"),
        Rows.instantOrNull(row, "finished_at"),
        row.getString("failure_code"));
  }
}
