package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.AttributesJson;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/** A claimed job with its place in the queue: the update gives rows back in no useful order. */
record ClaimedRow(LeasedJob job, int priority, double due) {
  private static final Comparator<ClaimedRow> ORDER =
      Comparator.comparingInt(ClaimedRow::priority)
          .thenComparingDouble(ClaimedRow::due)
          .thenComparing(row -> row.job().id());

  static List<LeasedJob> inOrder(List<ClaimedRow> rows) {
    return rows.stream().sorted(ORDER).map(ClaimedRow::job).toList();
  }

  static ClaimedRow read(ResultSet row) throws SQLException {
    return read(row, Rows.lease(row));
  }

  static ClaimedRow read(ResultSet row, Lease lease) throws SQLException {
    LeasedJob job =
        new LeasedJob(
            lease,
            row.getString("kind"),
            row.getString("queue"),
            new Json(row.getString("payload")),
            row.getString("tenant"),
            row.getString("workspace"),
            Rows.id(row, "run_id"),
            row.getString("run_key"),
            Rows.epoch(row.getDouble("created")),
            row.getInt("failures"),
            row.getInt("max_attempts"),
            Duration.ofMillis(Math.max(0, row.getLong("wait_ms"))),
            Rows.millisOrNull(row, "timeout_ms"),
            Rows.millisOrNull(row, "deadline_ms"),
            AttributesJson.read(row.getString("attributes")),
            row.getBoolean("commanded"),
            row.getInt("version"),
            row.getBoolean("stepped"));
    return new ClaimedRow(job, row.getInt("priority"), row.getDouble("due"));
  }
}
