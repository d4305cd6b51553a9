package dev.holdfast.chaos.check;

import dev.holdfast.chaos.fleet.Database;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How often the fence held: what attempts wrote that no longer held their jobs.
 *
 * @param writes that handlers tried and that were refused them, each once
 * @param results of further attempts that their workers dropped or were refused
 */
public record Refused(long writes, long results) {
  private static final String WRITES =
      "SELECT count(*) FROM (SELECT DISTINCT job, attempt, write FROM chaos.refused) AS each";
  private static final Pattern LATE =
      Pattern.compile("late result of \\S+ (\\S+#\\d+) refused: it lost its lease");

  /**
   * @param printed by the worker processes, which log each late result
   */
  public static Refused of(Database database, List<String> printed) throws SQLException {
    Set<String> late = new HashSet<>();
    for (String line : printed) {
      Matcher matcher = LATE.matcher(line);
      if (matcher.find()) {
        late.add(matcher.group(1));
      }
    }
    // Those of which a handler has told already.
    database
        .texts("SELECT DISTINCT job || '#' || attempt FROM chaos.refused")
        .forEach(late::remove);
    return new Refused(writes(database), late.size());
  }

  /** So far. */
  public static long writes(Database database) throws SQLException {
    return database.count(WRITES);
  }
}
