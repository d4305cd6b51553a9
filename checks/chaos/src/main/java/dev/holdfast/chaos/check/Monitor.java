package dev.holdfast.chaos.check;

import dev.holdfast.chaos.fleet.Database;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Looks at one snapshot of the database after the other while jobs run: what must always hold. */
public final class Monitor {
  private static final String EXCEEDED =
      """
      SELECT 'key ' || concurrency_key || ': ' || count(*) || ' run, limit ' || min(concurrency_limit)
        FROM holdfast.job WHERE state = 'RUNNING' AND concurrency_key IS NOT NULL
        GROUP BY tenant, queue, concurrency_key HAVING count(*) > min(concurrency_limit)
      UNION ALL
      SELECT 'queue ' || q.name || ': ' || count(*) || ' run, limit ' || q.max_running
        FROM holdfast.queue AS q JOIN holdfast.job AS j ON j.queue = q.name AND j.state = 'RUNNING'
        WHERE q.max_running IS NOT NULL GROUP BY q.name HAVING count(*) > q.max_running
      """;

  private final Database database;
  private final List<String> violations = new ArrayList<>();
  private final RepeatedLook looking = new RepeatedLook("monitor", 25, this::look);
  private long looks;

  public Monitor(Database database) {
    this.database = database;
  }

  public Monitor start() {
    looking.start();
    return this;
  }

  private void look() throws SQLException {
    List<String> found = database.texts(EXCEEDED);
    synchronized (this) {
      violations.addAll(found);
      looks++;
    }
  }

  public Finding stop() {
    looking.stop();
    synchronized (this) {
      return new Finding("no limit is exceeded in any snapshot", looks, violations);
    }
  }
}
