package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How long failed jobs wait for their next attempt, where neither handler nor kind decides it. Both
 * the worker's settlement and the completion over HTTP are answered by this.
 */
public record Backoff(RetryDefaults defaults) {
  // No lock: while an attempt holds its job, no other statement raises its failures.
  private static final Sql SQL =
      Sql.of("SELECT id, kind, queue, failures FROM holdfast.job WHERE id = ANY (:jobs::uuid[])");

  List<Settlement.Fail> decided(Connection connection, List<Settlement.Fail> failed)
      throws SQLException {
    List<JobId> undecided =
        failed.stream()
            .filter(each -> each.retryAfter() == null && each.failure().retryable())
            .map(each -> each.lease().job())
            .toList();
    if (undecided.isEmpty()) {
      return failed;
    }
    Map<JobId, Duration> waits = new HashMap<>();
    SQL.on(connection)
        .array("jobs", "uuid", undecided, id -> id)
        .listByKey(
            row -> {
              RetryPolicy policy = defaults.policy(row.getString("kind"), row.getString("queue"));
              Duration wait = policy.next(row.getInt("failures"), ThreadLocalRandom.current());
              return waits.put(Rows.id(row, "id"), wait);
            });
    return failed.stream()
        .map(
            each ->
                each.retryAfter() == null
                    ? new Settlement.Fail(
                        each.lease(), each.failure(), waits.get(each.lease().job()))
                    : each)
        .toList();
  }
}
