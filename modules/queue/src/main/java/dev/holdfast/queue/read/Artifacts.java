package dev.holdfast.queue.read;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Reads what jobs have published, and forgets what retention has left behind. */
public final class Artifacts {
  private static final Sql OF_JOB =
      Sql.of(
          """
          SELECT name, size, sha256, attempt, store, published_at, result
            FROM holdfast.artifact
           WHERE job_id = :job AND orphaned_at IS NULL
           ORDER BY name
          """);

  private static final Sql ORPHANED =
      Sql.of(
          """
          SELECT DISTINCT job_id
            FROM holdfast.artifact
           WHERE store = :store AND orphaned_at IS NOT NULL
           LIMIT :most
          """);

  private static final Sql FORGET =
      Sql.of(
          """
          DELETE FROM holdfast.artifact
           WHERE store = :store AND orphaned_at IS NOT NULL AND job_id = ANY (:jobs::uuid[])
          """);

  private Artifacts() {}

  public static List<PublishedArtifact> of(Connection connection, JobId job) throws SQLException {
    return OF_JOB
        .on(connection)
        .set("job", job)
        .list(
            row ->
                new PublishedArtifact(
                    new Artifact(
                        row.getString("name"), row.getLong("size"), row.getString("sha256")),
                    row.getInt("attempt"),
                    row.getString("store"),
                    Rows.instant(row, "published_at"),
                    Rows.jsonOrNull(row, "result")));
  }

  /** Deleted jobs whose files are still in the store. */
  public static List<JobId> orphaned(Connection connection, String store, int most)
      throws SQLException {
    return ORPHANED
        .on(connection)
        .set("store", store)
        .set("most", most)
        .list(row -> Rows.id(row, "job_id"));
  }

  public static int forget(Connection connection, String store, List<JobId> jobs)
      throws SQLException {
    return FORGET
        .on(connection)
        .set("store", store)
        .array("jobs", "uuid", jobs, job -> job)
        .update();
  }
}
