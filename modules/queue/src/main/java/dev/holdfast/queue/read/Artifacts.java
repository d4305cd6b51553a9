package dev.holdfast.queue.read;

import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Reads what jobs have published, and forgets what retention has left behind. */
public final class Artifacts {
  private static final String OF_JOB =
      """
      SELECT name, size, sha256, attempt, store, published_at, result
        FROM holdfast.artifact
       WHERE job_id = ? AND orphaned_at IS NULL
       ORDER BY name
      """;

  private static final String ORPHANED =
      """
      SELECT DISTINCT job_id
        FROM holdfast.artifact
       WHERE store = ? AND orphaned_at IS NOT NULL
       LIMIT ?
      """;

  private static final String FORGET =
      """
      DELETE FROM holdfast.artifact
       WHERE store = ? AND orphaned_at IS NOT NULL AND job_id = ANY (?::uuid[])
      """;

  private Artifacts() {}

  public static List<PublishedArtifact> of(Connection connection, JobId job) throws SQLException {
    return Rows.list(
        connection,
        row ->
            new PublishedArtifact(
                new Artifact(row.getString("name"), row.getLong("size"), row.getString("sha256")),
                row.getInt("attempt"),
                row.getString("store"),
                Rows.instant(row, "published_at"),
                Rows.jsonOrNull(row, "result")),
        OF_JOB,
        job);
  }

  /** Jobs that were deleted and whose files still lie in the store. */
  public static List<JobId> orphaned(Connection connection, String store, int most)
      throws SQLException {
    return Rows.list(connection, row -> Rows.id(row, "job_id"), ORPHANED, store, most);
  }

  public static int forget(Connection connection, String store, List<JobId> jobs)
      throws SQLException {
    return Rows.update(connection, FORGET, store, Rows.array(connection, "uuid", jobs, job -> job));
  }
}
