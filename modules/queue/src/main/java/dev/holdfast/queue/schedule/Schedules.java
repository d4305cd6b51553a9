package dev.holdfast.queue.schedule;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.schedule.Cron;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.ScheduledRun;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.read.JobReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Schedules, kept by name. Setting one again changes it. */
public final class Schedules {
  private static final Sql SET =
      Sql.of(
          """
      INSERT INTO holdfast.schedule AS schedule
             (name, cron, zone, missed_fires, allow_overlap, queue, kind, priority, max_attempts,
              max_crashes, timeout_ms, payload, next_fire_at)
      VALUES (:name, :cron, :zone, :missedFires, :allowOverlap, :queue, :kind, :priority,
              :maxAttempts, :maxCrashes, :timeout, :payload::jsonb, :next)
      ON CONFLICT (name) DO UPDATE
         SET cron = excluded.cron, zone = excluded.zone, missed_fires = excluded.missed_fires,
             allow_overlap = excluded.allow_overlap, queue = excluded.queue, kind = excluded.kind,
             priority = excluded.priority, max_attempts = excluded.max_attempts,
             max_crashes = excluded.max_crashes, timeout_ms = excluded.timeout_ms,
             payload = excluded.payload, fire_error = NULL, retry_at = NULL,
             -- A service that sets its schedules at every start must not lose a time that is due.
             next_fire_at =
               CASE WHEN schedule.cron = excluded.cron AND schedule.zone = excluded.zone
                    THEN schedule.next_fire_at ELSE excluded.next_fire_at END
      """);

  // A payload from before long numbers were refused may be more than can be written out.
  private static final String FITS = JobReader.isShort("payload", Limits.BULK_BYTES);

  private static final String SELECT =
      """
      SELECT name, cron, zone, missed_fires, allow_overlap, queue, kind, priority, max_attempts,
             max_crashes, timeout_ms, ${payload} AS payload, ${tooLong} AS too_long, next_fire_at,
             last_fired_at, paused_at, fire_error, statement_timestamp() AS now
        FROM holdfast.schedule
      """;

  /** So many jobs of a schedule are remembered. */
  static final int LAST_RUNS = 10;

  private static final Sql RUNS =
      Sql.of(
          """
          SELECT s.name, j.id, j.state, j.created_at, j.started_at, j.finished_at
            FROM holdfast.schedule s
           CROSS JOIN LATERAL unnest(s.last_jobs) WITH ORDINALITY AS last(id, n)
            JOIN holdfast.job j ON j.id = last.id
           ORDER BY last.n
          """);

  private static final Sql LIST = select("ORDER BY name");
  private static final Sql BY_NAME = select("WHERE name = :name");
  private static final Sql PAUSED = select("WHERE name = :name AND paused_at IS NOT NULL");

  private static final Sql LIST_WITHOUT_PAYLOADS =
      Sql.of(SELECT + "ORDER BY name", "payload", "NULL", "tooLong", "false");

  private static Sql select(String which) {
    return Sql.of(
        SELECT + which,
        "payload",
        "CASE WHEN " + FITS + " THEN payload END",
        "tooLong",
        "NOT " + FITS);
  }

  private static final Sql PAUSE =
      Sql.of(
          """
          UPDATE holdfast.schedule
             SET paused_at = clock_timestamp(), paused_by = :by, pause_reason = :reason
           WHERE name = :name AND paused_at IS NULL
          """);
  private static final Sql RESUME =
      Sql.of(
          """
          UPDATE holdfast.schedule SET paused_at = NULL, paused_by = NULL, pause_reason = NULL,
                 next_fire_at = :next
           WHERE name = :name AND paused_at IS NOT NULL
          """);
  private static final Sql PAUSES =
      Sql.of(
          """
          SELECT name, paused_at, paused_by, pause_reason
            FROM holdfast.schedule WHERE paused_at IS NOT NULL
          """);
  private static final Sql REMOVE = Sql.of("DELETE FROM holdfast.schedule WHERE name = :name");

  private static final Sql NOW = Sql.of("SELECT clock_timestamp() AS now");

  private Schedules() {}

  public static boolean set(Connection connection, Schedule schedule, Codec codec)
      throws SQLException {
    Job job = schedule.job();
    return SET.on(connection)
            .set("name", schedule.name())
            .set("cron", schedule.cron().toString())
            .set("zone", schedule.zone().getId())
            .set("missedFires", schedule.missedFires().name())
            .set("allowOverlap", schedule.allowOverlap())
            .set("queue", job.queue())
            .set("kind", job.kind())
            .set("priority", job.priority())
            .set("maxAttempts", job.maxAttempts())
            .set("maxCrashes", job.maxCrashes())
            .set("timeout", job.timeout())
            .set("payload", Limits.payload(codec.encode(job.payload())))
            .set("next", next(schedule, now(connection)))
            .update()
        > 0;
  }

  public static List<ScheduleStatus> list(Connection connection) throws SQLException {
    Map<String, List<ScheduledRun>> runs = new HashMap<>();
    RUNS.on(connection)
        .listByKey(
            row ->
                runs.computeIfAbsent(row.getString("name"), absent -> new ArrayList<>())
                    .add(run(row)));
    try {
      return LIST.on(connection).list(row -> status(row, runs));
    } catch (SQLException e) {
      if (SqlErrors.isUnreadable(e)) {
        return LIST_WITHOUT_PAYLOADS.on(connection).list(row -> status(row, runs));
      }
      throw e;
    }
  }

  private static ScheduledRun run(ResultSet row) throws SQLException {
    return new ScheduledRun(
        Rows.id(row, "id"),
        JobState.valueOf(row.getString("state")),
        Rows.instant(row, "created_at"),
        Rows.instantOrNull(row, "started_at"),
        Rows.instantOrNull(row, "finished_at"));
  }

  /** A schedule that can be fired, with the time it is due for. */
  record Due(Schedule schedule, Instant nextFireAt, Instant now) {}

  /**
   * Throws a {@link RefusedException} that says what is wrong if nothing can be made of the row.
   */
  static Due due(Connection connection, String name) throws SQLException {
    return BY_NAME
        .on(connection)
        .set("name", name)
        .only(
            row ->
                new Due(
                    schedule(row), Rows.instant(row, "next_fire_at"), Rows.instant(row, "now")));
  }

  /** Throws a {@link RefusedException} if nothing can be made of the row. */
  static Optional<Schedule> find(Connection connection, String name) throws SQLException {
    return BY_NAME.on(connection).set("name", name).first(Schedules::schedule);
  }

  public static boolean pause(Connection connection, String name, Pause.Draft pause)
      throws SQLException {
    return PAUSE.on(connection).set("name", name).pause(pause).update() > 0;
  }

  /** By the name of the schedule. */
  public static Map<String, Pause> pauses(Connection connection) throws SQLException {
    Map<String, Pause> pauses = new HashMap<>();
    PAUSES.on(connection).list(row -> pauses.put(row.getString("name"), Queues.paused(row)));
    return pauses;
  }

  /** What would have fired during the pause is not made up for: that is what a pause is. */
  public static boolean resume(Connection connection, String name) throws SQLException {
    Optional<Schedule> paused = PAUSED.on(connection).set("name", name).first(Schedules::schedule);
    return paused.isPresent()
        && RESUME
                .on(connection)
                .set("next", next(paused.get(), now(connection)))
                .set("name", name)
                .update()
            > 0;
  }

  public static boolean remove(Connection connection, String name) throws SQLException {
    return REMOVE.on(connection).set("name", name).update() > 0;
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
    return NOW.on(connection).only(row -> Rows.instant(row, "now"));
  }

  private static Schedule schedule(ResultSet row) throws SQLException {
    if (row.getBoolean("too_long")) {
      throw new RefusedException(
          Refusal.PAYLOAD_TOO_LARGE, "its payload has numbers that are too long to be written out");
    }
    Duration timeout = Rows.millisOrNull(row, "timeout_ms");
    Json payload = Rows.jsonOrNull(row, "payload");
    Job job =
        Job.of(row.getString("kind"), payload == null ? Json.EMPTY : payload)
            .queue(row.getString("queue"))
            .priority(row.getInt("priority"))
            .maxCrashes(row.getInt("max_crashes"));
    Integer attempts = Rows.intOrNull(row, "max_attempts");
    job = attempts == null ? job : job.maxAttempts(attempts);
    return new Schedule(
        row.getString("name"),
        Cron.parse(row.getString("cron")),
        zone(row.getString("zone")),
        timeout == null ? job : job.timeout(timeout),
        MissedFires.valueOf(row.getString("missed_fires")),
        row.getBoolean("allow_overlap"));
  }

  /** Zones come and go with the versions of Java. */
  private static ZoneId zone(String name) {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException unknown) {
      throw new RefusedException(
          Refusal.BAD_SCHEDULE, "its time zone '" + name + "' is not known here");
    }
  }

  private static ScheduleStatus status(ResultSet row, Map<String, List<ScheduledRun>> runs)
      throws SQLException {
    return new ScheduleStatus(
        row.getString("name"),
        row.getString("cron"),
        row.getString("zone"),
        row.getString("kind"),
        row.getString("queue"),
        row.getInt("priority"),
        Rows.intOrNull(row, "max_attempts"),
        row.getInt("max_crashes"),
        Rows.millisOrNull(row, "timeout_ms"),
        MissedFires.valueOf(row.getString("missed_fires")),
        row.getBoolean("allow_overlap"),
        Rows.jsonOrNull(row, "payload"),
        Rows.instant(row, "next_fire_at"),
        Rows.instantOrNull(row, "last_fired_at"),
        Rows.instantOrNull(row, "paused_at"),
        fireError(row),
        runs.getOrDefault(row.getString("name"), List.of()));
  }

  /** What is wrong with the row itself is known before its time comes. */
  private static @Nullable String fireError(ResultSet row) throws SQLException {
    try {
      schedule(row);
      return row.getString("fire_error");
    } catch (RefusedException wrong) {
      return wrong.getMessage();
    }
  }
}
