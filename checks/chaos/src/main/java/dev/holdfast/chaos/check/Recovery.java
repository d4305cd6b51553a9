package dev.holdfast.chaos.check;

import dev.holdfast.chaos.fleet.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** How long jobs of killed workers waited, and how long after an outage the first job began. */
public final class Recovery {
  /** A job whose worker was killed. */
  private record Orphan(UUID job, int attempt, Instant at) {}

  private record Outage(String fault, Instant from, Instant until) {}

  private final Database database;
  private final List<Orphan> orphans = new ArrayList<>();
  private final List<Outage> outages = new ArrayList<>();
  private Instant outage = Instant.MIN;

  public Recovery(Database database) {
    this.database = database;
  }

  /** Called right before a worker process is killed. */
  public void killed(long pid) {
    try (Connection connection = database.direct().getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "SELECT id, attempt FROM holdfast.job"
                    + " WHERE state = 'RUNNING' AND worker_id LIKE ?")) {
      statement.setString(1, "%." + pid + ".%");
      Instant now = Instant.now();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          add(new Orphan(rows.getObject(1, UUID.class), rows.getInt(2), now));
        }
      }
    } catch (SQLException away) {
      // No database, no figure.
    }
  }

  private synchronized void add(Orphan orphan) {
    orphans.add(orphan);
  }

  public synchronized void outageBegins() {
    outage = Instant.now();
  }

  public synchronized void outageEnds(String fault) {
    outages.add(new Outage(fault, outage, Instant.now()));
  }

  /** From the kill until the job is back in its queue. */
  public List<Duration> requeued() throws SQLException {
    return sinceKill(
        "SELECT min(at) FROM holdfast.event"
            + " WHERE job_id = ? AND attempt = ? AND type = 'requeued:stale'");
  }

  /** From the kill to the next start: also what the job waited for others in its queue. */
  public List<Duration> startedAgain() throws SQLException {
    // Not while handlers write it: a long run has hundreds of thousands of rows.
    database.execute("CREATE INDEX IF NOT EXISTS ran_job ON chaos.ran (job, attempt)");
    return sinceKill("SELECT min(at) FROM chaos.ran WHERE job = ? AND attempt > ?");
  }

  /** Where the database was there all the time; sorted. */
  private synchronized List<Duration> sinceKill(String sql) throws SQLException {
    List<Duration> times = new ArrayList<>();
    try (Connection connection = database.direct().getConnection();
        PreparedStatement next = connection.prepareStatement(sql)) {
      for (Orphan orphan : orphans) {
        next.setObject(1, orphan.job());
        next.setInt(2, orphan.attempt());
        try (ResultSet rows = next.executeQuery()) {
          if (rows.next() && rows.getTimestamp(1) != null) {
            Instant again = rows.getTimestamp(1).toInstant();
            if (outages.stream().noneMatch(each -> overlaps(each, orphan.at(), again))) {
              times.add(Duration.between(orphan.at(), again));
            }
          }
        }
      }
    }
    return times.stream().sorted().toList();
  }

  /**
   * From the end of each outage to the first start of a job, unless another came first; by fault,
   * sorted.
   */
  public synchronized Map<String, List<Duration>> firstStarts() throws SQLException {
    Map<String, List<Duration>> times = new TreeMap<>();
    try (Connection connection = database.direct().getConnection();
        PreparedStatement first =
            connection.prepareStatement("SELECT min(at) FROM chaos.ran WHERE at >= ?")) {
      for (Outage each : outages) {
        first.setObject(1, each.until().atOffset(java.time.ZoneOffset.UTC));
        try (ResultSet rows = first.executeQuery()) {
          if (rows.next() && rows.getTimestamp(1) != null) {
            Instant start = rows.getTimestamp(1).toInstant();
            if (outages.stream().noneMatch(other -> beginsBetween(other, each.until(), start))) {
              times
                  .computeIfAbsent(each.fault(), fault -> new ArrayList<>())
                  .add(Duration.between(each.until(), start));
            }
          }
        }
      }
    }
    times.values().forEach(Collections::sort);
    return times;
  }

  private static boolean beginsBetween(Outage outage, Instant from, Instant until) {
    return !outage.from().isBefore(from) && outage.from().isBefore(until);
  }

  private static boolean overlaps(Outage outage, Instant from, Instant until) {
    return outage.from().isBefore(until) && outage.until().isAfter(from.minusSeconds(10));
  }
}
