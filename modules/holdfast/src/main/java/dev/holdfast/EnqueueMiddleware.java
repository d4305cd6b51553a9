package dev.holdfast;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import java.sql.SQLException;
import java.util.List;

/** Runs around every enqueue of a {@link Holdfast}: for tracing, or to complete jobs. */
@FunctionalInterface
public interface EnqueueMiddleware {
  /** Changes nothing. */
  EnqueueMiddleware NONE = (jobs, next) -> next.run(jobs);

  /**
   * @param jobs what the caller enqueues: one job, or several that are written together
   * @param next writes as many jobs, in the same order
   */
  List<Enqueued> enqueue(List<Job> jobs, Next next) throws SQLException;

  /** This one around another. */
  default EnqueueMiddleware around(EnqueueMiddleware inner) {
    return (jobs, next) -> enqueue(jobs, changed -> inner.enqueue(changed, next));
  }

  /** The enqueue itself. */
  @FunctionalInterface
  interface Next {
    List<Enqueued> run(List<Job> jobs) throws SQLException;
  }
}
