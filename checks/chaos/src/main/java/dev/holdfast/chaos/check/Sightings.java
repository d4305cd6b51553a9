package dev.holdfast.chaos.check;

import dev.holdfast.chaos.fleet.Database;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Looks at jobs that have ended while others run. What somebody has seen must not be otherwise
 * later: neither a crash nor a failover takes a settled job back.
 */
public final class Sightings {
  private static final String NOW =
      "SELECT id, state || ' in attempt ' || attempt FROM holdfast.job"
          + " WHERE finished_at IS NOT NULL";
  private static final String ENDED = NOW + " AND finished_at > now() - interval '5 seconds'";
  private static final int BETWEEN_MS = 500;

  private final Database database;
  private final Map<UUID, String> seen = new HashMap<>();
  private final RepeatedLook looking = new RepeatedLook("sightings", BETWEEN_MS, this::look);

  public Sightings(Database database) {
    this.database = database;
  }

  public Sightings start() {
    looking.start();
    return this;
  }

  void look() throws SQLException {
    database.byId(ENDED).forEach(seen::putIfAbsent);
  }

  public Finding stop() throws SQLException {
    looking.stop();
    return finding();
  }

  Finding finding() throws SQLException {
    Map<UUID, String> now = database.byId(NOW);
    List<String> wrong = new ArrayList<>();
    seen.forEach(
        (job, ending) -> {
          String is = now.getOrDefault(job, "not ended");
          if (!is.equals(ending)) {
            wrong.add(job + " was " + ending + " and is " + is);
          }
        });
    return new Finding("a job that was seen ended stays as it was", seen.size(), wrong);
  }
}
