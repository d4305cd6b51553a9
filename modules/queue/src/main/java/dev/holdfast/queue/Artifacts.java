package dev.holdfast.queue;

import dev.holdfast.model.Artifact;
import dev.holdfast.model.JobId;
import dev.holdfast.model.PublishedArtifact;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Reads what jobs have published, and forgets what retention has left behind. */
final class Artifacts {
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

  static List<PublishedArtifact> of(Connection connection, JobId job) throws SQLException {
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
  static List<JobId> orphaned(Connection connection, String store, int most) throws SQLException {
    return Rows.list(connection, row -> Rows.id(row, "job_id"), ORPHANED, store, most);
  }

  static int forget(Connection connection, String store, List<JobId> jobs) throws SQLException {
    return Rows.update(connection, FORGET, store, Rows.array(connection, "uuid", jobs, job -> job));
  }
}
