package dev.holdfast.queue;

import dev.holdfast.model.job.JobId;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All that is stored of a job, as texts by table, to see whether anything changed. */
final class JobRows {
  private static final String TABLES =
      """
      SELECT c.table_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
       WHERE c.table_schema = 'holdfast' AND c.column_name = 'job_id'
         AND t.table_type = 'BASE TABLE'
      """;

  private JobRows() {}

  /** Its row, and its artifacts, attempts, events, steps and whatever else names it. */
  static Map<String, @Nullable String> of(TestDatabase db, JobId job) {
    Map<String, @Nullable String> all = ofOtherTables(db, job);
    all.put("job", rows(db, "job", "id", job));
    return all;
  }

  static Map<String, @Nullable String> ofOtherTables(TestDatabase db, JobId job) {
    Map<String, @Nullable String> all = new TreeMap<>();
    for (Map<String, @Nullable Object> row : db.query(TABLES)) {
      String table = String.valueOf(row.get("table_name"));
      all.put(table, rows(db, table, "job_id", job));
    }
    if (!all.keySet().containsAll(List.of("artifact", "attempt", "event", "step"))) {
      throw new IllegalStateException("tables of jobs: " + all.keySet());
    }
    return all;
  }

  private static @Nullable String rows(TestDatabase db, String table, String key, JobId job) {
    return db.queryOne(
        String.class,
        "SELECT string_agg(r::text, E'\\n' ORDER BY r::text) FROM holdfast."
            + table
            + " AS r WHERE "
            + key
            + " = ?",
        job.value());
  }
}
