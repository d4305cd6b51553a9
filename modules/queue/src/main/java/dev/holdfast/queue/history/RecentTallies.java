package dev.holdfast.queue.history;

import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The last minutes, which are not summed up yet, counted from the jobs themselves. Of thousands of
 * jobs a second this takes long, and many may ask: what took long is kept for twenty times as long,
 * so that it costs the database a twentieth of a core at most.
 */
public final class RecentTallies {
  private static final Sql OF_JOBS = Sql.of(TallySql.ofJobs());

  private static final int KEPT_FOR = 20;
  private static final Duration QUICK = Duration.ofMillis(100);
  private static final int MOST_KEPT = 20_000;

  /** With fewer, it was something else that took long. */
  private static final int MANY_JOBS = 10_000;

  /** From where it is asked for to now, and more: a job may be newer than what the caller knows. */
  private static final Duration AHEAD = Duration.ofHours(1);

  /** Jobs of a minute. */
  record Row(Instant at, String queue, String kind, String tenant, TallySum sum) {
    static Row read(ResultSet row) throws SQLException {
      return new Row(
          Rows.instant(row, "at"),
          row.getString("queue"),
          row.getString("kind"),
          row.getString("tenant"),
          TallySum.of(row));
    }
  }

  private final ReentrantLock reading = new ReentrantLock();
  private List<Row> kept = List.of();
  private Instant keptFrom = Instant.MAX;
  private long keptUntil;

  /**
   * Also rows of earlier minutes, if these are kept. One caller reads, and the others wait for it
   * without a connection: they may be many, and other verbs need the connections.
   */
  List<Row> since(Database database, Instant from) {
    reading.lock();
    try {
      long start = System.nanoTime();
      if (!keptFrom.isAfter(from) && start - keptUntil < 0) {
        return kept;
      }
      List<Row> rows =
          database.run(
              ReadHistory.VERB,
              connection ->
                  OF_JOBS
                      .on(connection)
                      .set("from", from)
                      .set("until", from.plus(AHEAD))
                      .tenant(Tenant.ANY)
                      .listByKey(Row::read));
      long took = System.nanoTime() - start;
      long jobs = rows.stream().mapToLong(each -> each.sum().jobs()).sum();
      boolean keep = took > QUICK.toNanos() && jobs > MANY_JOBS && rows.size() <= MOST_KEPT;
      kept = keep ? rows : List.of();
      keptFrom = keep ? from : Instant.MAX;
      keptUntil = System.nanoTime() + KEPT_FOR * took;
      return rows;
    } finally {
      reading.unlock();
    }
  }
}
