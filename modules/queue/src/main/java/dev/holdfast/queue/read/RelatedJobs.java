package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.JobDependencies;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Reads the jobs that a job depends on, those that depend on it, and its forks. */
public final class RelatedJobs {
  // Those that have not ended come first: they are why a job waits.
  private static final String RELATED =
      """
      SELECT j.id, j.kind, j.queue, j.tenant, j.state
        FROM holdfast.dependency d JOIN holdfast.job j ON j.id = d.${other}
       WHERE d.${own} = :job
       ORDER BY j.finished_at IS NOT NULL, j.created_at, j.id
       LIMIT :most
      """;

  private static final Sql DEPENDS_ON = Sql.of(RELATED, "other", "depends_on_id", "own", "job_id");
  private static final Sql DEPENDENTS = Sql.of(RELATED, "other", "job_id", "own", "depends_on_id");

  private static final Sql FORKS =
      Sql.of(
          """
          SELECT j.id, j.kind, j.queue, j.tenant, j.state
            FROM holdfast.job j
           WHERE j.forked_from = :job
           ORDER BY j.created_at, j.id
           LIMIT :most
          """);

  private RelatedJobs() {}

  public static JobDependencies of(Connection connection, JobId job) throws SQLException {
    return new JobDependencies(
        DEPENDS_ON
            .on(connection)
            .set("job", job)
            .set("most", JobDependencies.MOST)
            .list(RelatedJobs::related),
        DEPENDENTS
            .on(connection)
            .set("job", job)
            .set("most", JobDependencies.MOST)
            .list(RelatedJobs::related),
        FORKS
            .on(connection)
            .set("job", job)
            .set("most", JobDependencies.MOST)
            .list(RelatedJobs::related));
  }

  private static JobDependencies.Related related(ResultSet row) throws SQLException {
    return new JobDependencies.Related(
        Rows.id(row, "id"),
        row.getString("kind"),
        row.getString("queue"),
        row.getString("tenant"),
        JobState.valueOf(row.getString("state")));
  }
}
