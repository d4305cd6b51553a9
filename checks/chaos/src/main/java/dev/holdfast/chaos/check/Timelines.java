package dev.holdfast.chaos.check;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The timelines of the jobs that were attempted most, beside their rows. */
final class Timelines {
  private static final int MOST = 3_000;
  private static final Map<String, String> ENDS =
      Map.of(
          EventType.DONE, "SUCCEEDED",
          EventType.FAILED, "FAILED",
          EventType.CANCELLED, "CANCELLED");

  private final Holdfast holdfast;
  private final List<UUID> jobs;
  private final Map<UUID, String> rows;

  Timelines(Database database, Holdfast holdfast) throws SQLException {
    this.holdfast = holdfast;
    this.jobs = database.ids("SELECT id FROM holdfast.job ORDER BY attempt DESC, id LIMIT " + MOST);
    this.rows =
        database.byId(
            "SELECT id, format('%s events, attempt %s, ended %s', event_count, attempt,"
                + " CASE WHEN finished_at IS NULL THEN '[]' ELSE '[' || state || ']' END)"
                + " FROM holdfast.job");
  }

  List<Finding> all() {
    List<String> gaps = new ArrayList<>();
    List<String> different = new ArrayList<>();
    List<String> falling = new ArrayList<>();
    for (UUID job : jobs) {
      List<JobEvent> events;
      try {
        events = holdfast.queries().timeline(new JobId(job));
      } catch (RuntimeException unreadable) {
        gaps.add(job + " cannot be read: " + unreadable);
        continue;
      }
      gap(job, events, gaps);
      attempts(job, events, falling);
      String told = told(events);
      if (!told.equals(rows.get(job))) {
        different.add(job + " has " + rows.get(job) + ", the timeline " + told);
      }
    }
    return List.of(
        new Finding("a timeline has no gap", jobs.size(), gaps),
        new Finding("a timeline says what the row says", jobs.size(), different),
        new Finding("attempts only go up", jobs.size(), falling));
  }

  private static void gap(UUID job, List<JobEvent> events, List<String> gaps) {
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i).number() != i + 1) {
        gaps.add(job + " has no event " + (i + 1));
        return;
      }
    }
  }

  private static void attempts(UUID job, List<JobEvent> events, List<String> falling) {
    int last = 0;
    for (JobEvent event : events) {
      if (event.type().equals(EventType.PROCESSING)) {
        if (event.attempt() <= last) {
          falling.add(job + " has attempt " + event.attempt() + " after attempt " + last);
        }
        last = event.attempt();
      }
    }
  }

  /** In the words of the row. */
  private static String told(List<JobEvent> events) {
    int attempt = 0;
    List<String> ends = new ArrayList<>();
    for (JobEvent event : events) {
      attempt = Math.max(attempt, event.attempt());
      String end = ENDS.get(event.type());
      if (end != null) {
        ends.add(end);
      }
    }
    return "%d events, attempt %d, ended %s".formatted(events.size(), attempt, ends);
  }
}
