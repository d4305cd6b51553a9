package dev.holdfast.queue.schedule;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enqueues what schedules have come due for, on whichever node looks first.
 *
 * <p>The row lock gives each schedule to one node, and the job's id is made from the schedule and
 * its time: should the transaction run twice, it still makes one job.
 */
public final class FireSchedules {
  private static final Logger log = LoggerFactory.getLogger(FireSchedules.class);

  // Names alone: a row that cannot be read must not keep others from being found. Broken ones come
  // last, and not at every sweep, so that any number of them leaves room for the others.
  private static final Sql DUE =
      Sql.of(
          """
      SELECT name, fire_error FROM holdfast.schedule
       WHERE next_fire_at <= statement_timestamp() AND paused_at IS NULL
         AND (retry_at IS NULL OR retry_at <= statement_timestamp())
       ORDER BY retry_at NULLS FIRST, next_fire_at
       LIMIT 100
         FOR UPDATE SKIP LOCKED
      """);

  // Those that are due now are left to the next sweep: another node has them, or they are many.
  private static final Sql UNTIL_NEXT =
      Sql.of(
          """
          SELECT (extract(epoch FROM min(greatest(next_fire_at, retry_at)) - clock_timestamp())
                  * 1000)::bigint AS millis
            FROM holdfast.schedule
           WHERE paused_at IS NULL AND greatest(next_fire_at, retry_at) > now()
          """);

  private static final Sql MOVE_ON =
      Sql.of(
          """
          UPDATE holdfast.schedule
             SET next_fire_at = :next, last_fired_at = :last, fire_error = NULL, retry_at = NULL
           WHERE name = :name
          """);

  private static final Sql REMEMBER =
      Sql.of(
          """
          UPDATE holdfast.schedule SET last_jobs = (:jobs::uuid[] || last_jobs)[1:${most}]
           WHERE name = :name
          """,
          "most",
          Integer.toString(Schedules.LAST_RUNS));

  private static final Sql BROKEN =
      Sql.of(
          """
          UPDATE holdfast.schedule
             SET fire_error = :reason,
                 retry_at = clock_timestamp() + :retry * interval '1 millisecond'
           WHERE name = :name
          """);

  /** How late a time may be noticed and still count as kept. */
  private static final Duration ON_TIME = Duration.ofMinutes(1);

  private static final int MOST_AT_ONCE = 100;

  /** How far back to look for the last time that has passed. */
  private static final List<Duration> SPANS =
      List.of(Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofDays(1));

  /** One that could not be fired may yet be: a key was held, a node of another version looks. */
  static final Duration RETRY = Duration.ofMinutes(1);

  private static final int REASON_CHARS = 500;

  /**
   * @param fireError why it could not be fired the last time
   */
  private record Named(String name, @Nullable String fireError) {}

  private FireSchedules() {}

  /** How many jobs were enqueued. */
  public static int due(Connection connection, Enqueue enqueue) throws SQLException {
    int fired = 0;
    for (Named named :
        DUE.on(connection)
            .list(row -> new Named(row.getString("name"), row.getString("fire_error")))) {
      fired += unlessBroken(connection, enqueue, named);
    }
    return fired;
  }

  /**
   * How long until the next one is due; empty when there is none. In the transaction of {@link
   * #due}, so that none comes due between the two looks.
   */
  public static Optional<Duration> untilNext(Connection connection) throws SQLException {
    return UNTIL_NEXT
        .on(connection)
        .first(row -> Optional.ofNullable(Rows.millisOrNull(row, "millis")))
        .flatMap(wait -> wait)
        .map(wait -> wait.isNegative() ? Duration.ZERO : wait);
  }

  /**
   * Enqueues the job of a schedule, whatever its times, and leaves those as they are. Empty when
   * there is no such schedule.
   */
  public static Optional<Enqueued> now(Connection connection, Enqueue enqueue, String name)
      throws SQLException {
    Optional<Schedule> schedule = Schedules.find(connection, name);
    if (schedule.isEmpty()) {
      return Optional.empty();
    }
    List<Enqueued> enqueued = enqueue.all(connection, List.of(job(schedule.get(), JobId.next())));
    remember(connection, name, enqueued);
    return enqueued.stream().findFirst();
  }

  private static void remember(Connection connection, String name, List<Enqueued> enqueued)
      throws SQLException {
    List<Enqueued> jobs = enqueued.stream().filter(each -> !each.duplicate()).toList().reversed();
    if (!jobs.isEmpty()) {
      REMEMBER.on(connection).array("jobs", "uuid", jobs, Enqueued::id).set("name", name).update();
    }
  }

  /** What is wrong with one is kept in its row, and stops no other. */
  private static int unlessBroken(Connection connection, Enqueue enqueue, Named named)
      throws SQLException {
    Savepoint before = connection.setSavepoint();
    try {
      int fired = one(connection, enqueue, named.name());
      connection.releaseSavepoint(before);
      if (named.fireError() != null) {
        log.info("schedule {} fires again", named.name());
      }
      return fired;
    } catch (SQLException e) {
      if (SqlErrors.isTransient(e)) {
        throw e;
      }
      breaks(connection, before, named, e);
    } catch (RuntimeException e) {
      breaks(connection, before, named, e);
    }
    return 0;
  }

  private static void breaks(Connection connection, Savepoint before, Named named, Exception error)
      throws SQLException {
    connection.rollback(before);
    String message = error.getMessage() == null ? error.toString() : error.getMessage();
    String reason = Text.excerpt(message, REASON_CHARS);
    if (!reason.equals(named.fireError())) {
      log.error("schedule {} cannot be fired, and is tried again: {}", named.name(), reason);
    }
    BROKEN
        .on(connection)
        .set("reason", reason)
        .set("retry", RETRY)
        .set("name", named.name())
        .update();
  }

  private static int one(Connection connection, Enqueue enqueue, String name) throws SQLException {
    Schedules.Due due = Schedules.due(connection, name);
    Schedule schedule = due.schedule();
    List<Instant> passed = passed(schedule, due.nextFireAt(), due.now());
    List<Job> jobs =
        chosen(schedule, passed, due.now()).stream()
            .map(at -> job(schedule, id(schedule.name(), at)))
            .toList();
    remember(connection, name, enqueue(connection, enqueue, jobs));
    MOVE_ON
        .on(connection)
        .set("next", Schedules.next(schedule, passed.getLast()))
        .set("last", passed.getLast())
        .set("name", name)
        .update();
    return jobs.size();
  }

  /** A time that was fired before its schedule was changed, and comes again, has its job. */
  private static List<Enqueued> enqueue(Connection connection, Enqueue enqueue, List<Job> jobs)
      throws SQLException {
    try {
      return enqueue.all(connection, jobs);
    } catch (RefusedException refused) {
      if (refused.refusal() != Refusal.ID_TAKEN) {
        throw refused;
      }
      return List.of();
    }
  }

  /** The times that have come since: all of them, but a bounded number at once, or the last. */
  private static List<Instant> passed(Schedule schedule, Instant first, Instant now) {
    List<Instant> times = new ArrayList<>();
    Instant from = schedule.missedFires() == MissedFires.ALL ? first : latest(schedule, first, now);
    for (Instant at = from; !at.isAfter(now); at = Schedules.next(schedule, at)) {
      if (schedule.missedFires() != MissedFires.ALL) {
        times.clear();
      }
      times.add(at);
      if (times.size() == MOST_AT_ONCE) {
        break;
      }
    }
    return times;
  }

  /** A time shortly before now, where the last one alone counts: there may be millions before. */
  private static Instant latest(Schedule schedule, Instant first, Instant now) {
    if (schedule.cron().isInterval()) {
      Duration every = Duration.between(first, Schedules.next(schedule, first));
      return first.plus(every.multipliedBy(Duration.between(first, now).dividedBy(every)));
    }
    for (Duration span : SPANS) {
      if (first.isBefore(now.minus(span))) {
        Instant at = Schedules.next(schedule, now.minus(span));
        if (!at.isAfter(now)) {
          return at;
        }
      }
    }
    return first;
  }

  private static List<Instant> chosen(Schedule schedule, List<Instant> passed, Instant now) {
    Instant last = passed.getLast();
    return switch (schedule.missedFires()) {
      case ALL -> passed;
      case ONCE -> List.of(last);
      case SKIP -> last.plus(ON_TIME).isBefore(now) ? List.of() : List.of(last);
    };
  }

  private static Job job(Schedule schedule, JobId id) {
    Job job = schedule.job().id(id).run(id, schedule.name());
    return schedule.allowOverlap() ? job : job.uniqueKey("schedule:" + schedule.name());
  }

  private static JobId id(String name, Instant at) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest((name + "\n" + at.toEpochMilli()).getBytes(StandardCharsets.UTF_8));
      ByteBuffer bits = ByteBuffer.wrap(hash);
      long head = (at.toEpochMilli() << 16) | 0x7000 | (bits.getLong() & 0xfff);
      long tail = (bits.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
      return new JobId(new UUID(head, tail));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
