package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.maintenance.Unblock;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.postgresql.util.PSQLException;

/** Which jobs wait for which: written with the enqueue, acted on by {@link Unblock}. */
final class Dependencies {
  // An enqueue that is sent twice inserts its rows once. The foreign key takes a lock that no
  // settle and no heartbeat waits for, so a caller's long transaction delays neither.
  private static final Sql SQL =
      Sql.of(
          """
          INSERT INTO holdfast.dependency (job_id, depends_on_id)
          SELECT * FROM unnest(:jobs::uuid[], :dependencies::uuid[])
          ON CONFLICT DO NOTHING
          """);

  private static final String FOREIGN_KEY_VIOLATION = "23503";

  private record Edge(JobId job, JobId on) {}

  private Dependencies() {}

  /** A dependency on a job that resolved to another id is a dependency on that one. */
  static void write(Connection connection, List<Job> jobs, Map<JobId, JobId> resolvedId)
      throws SQLException {
    List<Edge> edges =
        jobs.stream()
            .flatMap(
                job ->
                    job.dependsOn().stream()
                        .map(on -> new Edge(job.id(), resolvedId.getOrDefault(on, on))))
            .filter(edge -> !edge.job().equals(edge.on()))
            .toList();
    if (edges.isEmpty()) {
      return;
    }
    try {
      SQL.on(connection)
          .array("jobs", "uuid", edges, Edge::job)
          .array("dependencies", "uuid", edges, Edge::on)
          .update();
    } catch (SQLException e) {
      if (FOREIGN_KEY_VIOLATION.equals(e.getSQLState())) {
        RefusedException refused = RefusedException.noSuchDependency(missing(e, edges));
        refused.initCause(e);
        throw refused;
      }
      throw e;
    }
  }

  /** The server names the key in a detail of its error, but not to those who may not read it. */
  private static String missing(SQLException error, List<Edge> edges) {
    if (error instanceof PSQLException sent && sent.getServerErrorMessage() != null) {
      String detail = String.valueOf(sent.getServerErrorMessage().getDetail());
      for (Edge edge : edges) {
        if (detail.contains("(" + edge.on() + ")")) {
          return edge.on().toString();
        }
      }
    }
    return edges.size() == 1 ? edges.getFirst().on().toString() : "a job";
  }

  /** Only jobs of one call can wait for each other in a circle, and they would wait for ever. */
  static void check(List<Job> jobs) {
    Map<JobId, Set<JobId>> after = new HashMap<>();
    for (Job job : jobs) {
      if (!job.dependsOn().isEmpty()) {
        after.put(job.id(), new HashSet<>(job.dependsOn()));
      }
    }
    // Jobs that wait for no other of these are removed until none is left to remove: what remains
    // is in a circle, or waits for one.
    boolean removed = true;
    while (removed && !after.isEmpty()) {
      Set<JobId> waiting = Set.copyOf(after.keySet());
      removed = after.values().removeIf(others -> others.stream().noneMatch(waiting::contains));
    }
    if (!after.isEmpty()) {
      throw new RefusedException(
          Refusal.BAD_DEPENDENCY,
          "jobs that depend on each other in a circle would wait for ever: " + after.keySet());
    }
  }
}
