package dev.holdfast.queue;

import dev.holdfast.model.Codec;
import dev.holdfast.model.Cron;
import dev.holdfast.model.Job;
import dev.holdfast.model.Json;
import dev.holdfast.model.Limits;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.Schedule;
import dev.holdfast.model.ScheduleStatus;
import dev.holdfast.model.WhenMissed;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;

/** Schedules, kept by name. Setting one again changes it. */
final class Schedules {
  private static final String SET =
      """
      INSERT INTO holdfast.schedule AS schedule
             (name, cron, zone, missed, overlap, queue, kind, priority, max_attempts, max_crashes,
              timeout_ms, payload, next_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?)
      ON CONFLICT (name) DO UPDATE
         SET cron = excluded.cron, zone = excluded.zone, missed = excluded.missed,
             overlap = excluded.overlap, queue = excluded.queue, kind = excluded.kind,
             priority = excluded.priority, max_attempts = excluded.max_attempts,
             max_crashes = excluded.max_crashes, timeout_ms = excluded.timeout_ms,
             payload = excluded.payload,
             -- A service that sets its schedules at every start must not lose a time that is due.
             next_at = CASE WHEN schedule.cron = excluded.cron AND schedule.zone = excluded.zone
                            THEN schedule.next_at ELSE excluded.next_at END
      """;

  static final String COLUMNS =
      """
      SELECT name, cron, zone, missed, overlap, queue, kind, priority, max_attempts, max_crashes,
             timeout_ms, payload, next_at, last_at, paused_at, statement_timestamp() AS now
        FROM holdfast.schedule
      """;

  private static final String PAUSE =
      "UPDATE holdfast.schedule SET paused_at = clock_timestamp() WHERE name = ? AND paused_at IS NULL";
  private static final String RESUME =
      "UPDATE holdfast.schedule SET paused_at = NULL, next_at = ? WHERE name = ? AND paused_at IS NOT NULL";
  private static final String REMOVE = "DELETE FROM holdfast.schedule WHERE name = ?";

  private Schedules() {}

  static boolean set(Connection connection, Schedule schedule, Codec codec) throws SQLException {
    Job job = schedule.job();
    return Rows.update(
            connection,
            SET,
            schedule.name(),
            schedule.cron().toString(),
            schedule.zone().getId(),
            schedule.missed().name(),
            schedule.overlap(),
            job.queue(),
            job.kind(),
            job.priority(),
            job.maxAttempts(),
            job.maxCrashes(),
            job.timeout(),
            Limits.payload(codec.encode(job.payload())),
            next(schedule, now(connection)))
        > 0;
  }

  static List<ScheduleStatus> list(Connection connection) throws SQLException {
    return Rows.list(connection, Schedules::read, COLUMNS + " ORDER BY name");
  }

  static boolean pause(Connection connection, String name) throws SQLException {
    return Rows.update(connection, PAUSE, name) > 0;
  }

  /** What would have fired during the pause is not made up for: that is what a pause is. */
  static boolean resume(Connection connection, String name) throws SQLException {
    List<ScheduleStatus> paused =
        Rows.list(
            connection,
            Schedules::read,
            COLUMNS + " WHERE name = ? AND paused_at IS NOT NULL",
            name);
    return !paused.isEmpty()
        && Rows.update(
                connection, RESUME, next(paused.getFirst().schedule(), now(connection)), name)
            > 0;
  }

  static boolean remove(Connection connection, String name) throws SQLException {
    return Rows.update(connection, REMOVE, name) > 0;
  }

  static Instant next(Schedule schedule, Instant after) {
    return schedule
        .cron()
        .next(after, schedule.zone())
        .orElseThrow(
            () ->
                new RefusedException(
                    Refusal.BAD_SCHEDULE, "cron '" + schedule.cron() + "' never fires again"));
  }

  private static Instant now(Connection connection) throws SQLException {
    return Rows.list(connection, row -> Rows.instant(row, "now"), "SELECT clock_timestamp() AS now")
        .getFirst();
  }

  static ScheduleStatus read(ResultSet row) throws SQLException {
    Duration timeout = Rows.millisOrNull(row, "timeout_ms");
    Job job =
        Job.of(row.getString("kind"), new Json(row.getString("payload")))
            .queue(row.getString("queue"))
            .priority(row.getInt("priority"))
            .maxCrashes(row.getInt("max_crashes"));
    Integer attempts = Rows.intOrNull(row, "max_attempts");
    job = attempts == null ? job : job.maxAttempts(attempts);
    Schedule schedule =
        new Schedule(
            row.getString("name"),
            Cron.parse(row.getString("cron")),
            ZoneId.of(row.getString("zone")),
            timeout == null ? job : job.timeout(timeout),
            WhenMissed.valueOf(row.getString("missed")),
            row.getBoolean("overlap"));
    return new ScheduleStatus(
        schedule,
        Rows.instant(row, "next_at"),
        Rows.instantOrNull(row, "last_at"),
        Rows.instantOrNull(row, "paused_at"));
  }
}
