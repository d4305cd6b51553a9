package dev.holdfast.test;

import dev.holdfast.Holdfast;
import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.schedule.Cron;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.queue.Maintenance;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lets time pass for the jobs of a test without waiting for it: delays, retries, waits of handlers,
 * deadlines, windows of unique keys and schedules come due, in their order, and their jobs run.
 *
 * <p>No clock is changed. What lies in the future is moved towards the present, so a handler that
 * reads a clock sees the real time, and leases and timeouts last as long as ever. For a database
 * without other workers: they would see the moved times, too.
 */
public final class TestTime {
  private static final int MOST_STEPS = 10_000;
  private static final Duration NEVER = Duration.ofSeconds(Long.MAX_VALUE);

  private static final String UNTIL_NEXT =
      """
      SELECT extract(epoch FROM least(
               (SELECT min(run_at) FROM holdfast.job
                 WHERE state IN ('PENDING', 'RETRYING') AND run_at > clock_timestamp()),
               (SELECT min(wake_at) FROM holdfast.job WHERE wake_at > clock_timestamp()),
               (SELECT min(deadline) FROM holdfast.job
                 WHERE state IN ('WAITING', 'PENDING', 'RETRYING')
                   AND deadline > clock_timestamp()),
               (SELECT min(next_fire_at) - ? * interval '1 microsecond' FROM holdfast.schedule
                 WHERE paused_at IS NULL AND ?)) - clock_timestamp()) * 1000000
      """;

  // Jobs that are due already stay where they are in the order of their queue.
  private static final String PASS =
      """
      WITH passing AS (SELECT ? * interval '1 microsecond' AS span)
      UPDATE holdfast.job
         SET run_at = CASE WHEN run_at > clock_timestamp() THEN run_at - span ELSE run_at END,
             deadline = deadline - span, unique_until = unique_until - span,
             wake_at = wake_at - span
        FROM passing
       WHERE (state IN ('WAITING', 'PENDING', 'RETRYING')
              AND (run_at > clock_timestamp() OR deadline IS NOT NULL))
          OR wake_at IS NOT NULL OR unique_until IS NOT NULL
      """;

  private static final String SET_NEXT =
      "UPDATE holdfast.schedule SET next_fire_at = ?, last_fired_at = coalesce(?, last_fired_at) WHERE name = ?";

  private final Holdfast holdfast;
  private final Maintenance maintenance;
  private Duration passed = Duration.ZERO;

  private TestTime(Holdfast holdfast) {
    this.holdfast = holdfast;
    this.maintenance = holdfast.store().maintenance();
  }

  /** Begins with the real time. */
  public static TestTime of(Holdfast holdfast) {
    return new TestTime(holdfast);
  }

  /** What the clock would say: that of the database, and what has passed here. */
  public Instant now() {
    return holdfast.queries().now().plus(passed);
  }

  /** Lets this much time pass, and runs with this worker all that comes due meanwhile. */
  public void advance(Duration by, WorkerBuilder worker) {
    advance(by, worker::drain);
  }

  /** The same up to a moment on the clock of {@link #now}. */
  public void runDueUntil(Instant moment, WorkerBuilder worker) {
    Duration left = Duration.between(now(), moment);
    advance(left.isNegative() ? Duration.ZERO : left, worker);
  }

  /**
   * The same with another way to run what is due.
   *
   * @param drain called whenever something has come due
   */
  public void advance(Duration by, Runnable drain) {
    if (by.isNegative()) {
      throw new IllegalArgumentException("time passes in one direction, and not by " + by);
    }
    drain.run();
    Duration left = by;
    for (int steps = 0; ; steps++) {
      Duration next = untilNext(true).orElse(NEVER);
      if (next.compareTo(left) > 0) {
        break;
      }
      if (steps == MOST_STEPS) {
        throw new IllegalStateException(
            "more than %,d times came due within %s: let less time pass at once"
                .formatted(MOST_STEPS, by));
      }
      pass(next);
      left = left.minus(next);
      fire();
      drain.run();
    }
    pass(left);
  }

  /** Lets time pass until a job comes due, whatever schedules say; false when none ever does. */
  boolean passToNextJob() {
    Optional<Duration> next = untilNext(false);
    next.ifPresent(this::pass);
    return next.isPresent();
  }

  /** Until the next job or schedule is due; empty when none is waited for. */
  private Optional<Duration> untilNext(boolean schedules) {
    return ask(
        UNTIL_NEXT,
        statement -> {
          statement.setLong(1, micros(passed));
          statement.setBoolean(2, schedules);
          try (ResultSet row = statement.executeQuery()) {
            row.next();
            long micros = row.getLong(1);
            return row.wasNull()
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(Math.max(0, micros) * 1_000));
          }
        });
  }

  private void pass(Duration time) {
    passed = passed.plus(time);
    ask(
        PASS,
        statement -> {
          statement.setLong(1, micros(time));
          return statement.executeUpdate();
        });
    maintenance.expire();
    maintenance.promote();
  }

  /** Each schedule that is due, once; its next time is computed from the one that it was due at. */
  private void fire() {
    for (ScheduleStatus schedule : holdfast.admin().schedules()) {
      Instant due = schedule.nextFireAt();
      if (schedule.pausedAt() == null && !due.isAfter(now())) {
        set(schedule.name(), holdfast.queries().now(), null);
        maintenance.fire();
        Cron.parse(schedule.cron())
            .next(due, ZoneId.of(schedule.zone()))
            .ifPresent(next -> set(schedule.name(), next, due));
      }
    }
  }

  private void set(String schedule, Instant next, @Nullable Instant last) {
    ask(
        SET_NEXT,
        statement -> {
          statement.setObject(1, OffsetDateTime.ofInstant(next, ZoneOffset.UTC));
          statement.setObject(
              2, last == null ? null : OffsetDateTime.ofInstant(last, ZoneOffset.UTC));
          statement.setString(3, schedule);
          return statement.executeUpdate();
        });
  }

  private static long micros(Duration time) {
    return time.toNanos() / 1_000;
  }

  private interface Question<T> {
    T on(PreparedStatement statement) throws SQLException;
  }

  private <T> T ask(String sql, Question<T> question) {
    try (Connection connection = holdfast.dataSource().getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      T answer = question.on(statement);
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return answer;
    } catch (SQLException e) {
      throw new IllegalStateException("time could not be moved", e);
    }
  }
}
