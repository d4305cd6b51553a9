package dev.holdfast.queue;

import dev.holdfast.model.Job;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.Schedule;
import dev.holdfast.model.ScheduleStatus;
import dev.holdfast.model.WhenMissed;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Enqueues what schedules have come due for, on whichever node looks first.
 *
 * <p>The row lock gives each schedule to one node, and the job's id is made from the schedule and
 * its time: should the transaction run twice, it still makes one job.
 */
final class Fire {
  private static final String DUE =
      Schedules.COLUMNS
          + """
             WHERE next_at <= statement_timestamp() AND paused_at IS NULL
             ORDER BY next_at
             LIMIT 100
               FOR UPDATE SKIP LOCKED
            """;

  private static final String MOVE_ON =
      "UPDATE holdfast.schedule SET next_at = ?, last_at = ? WHERE name = ?";

  /** How late a time may be noticed and still count as kept. */
  private static final Duration ON_TIME = Duration.ofMinutes(1);

  private static final int MOST_AT_ONCE = 100;

  private record Due(ScheduleStatus status, Instant now) {}

  private Fire() {}

  /** How many jobs were enqueued. */
  static int due(Connection connection, Enqueue enqueue) throws SQLException {
    int fired = 0;
    for (Due due :
        Rows.list(connection, row -> new Due(Schedules.read(row), Rows.instant(row, "now")), DUE)) {
      Schedule schedule = due.status().schedule();
      List<Instant> passed = passed(schedule, due.status().nextAt(), due.now());
      List<Job> jobs =
          chosen(schedule, passed, due.now()).stream().map(at -> job(schedule, at)).toList();
      enqueue(connection, enqueue, jobs);
      fired += jobs.size();
      Rows.update(
          connection,
          MOVE_ON,
          Schedules.next(schedule, passed.getLast()),
          passed.getLast(),
          schedule.name());
    }
    return fired;
  }

  /** A time that was fired before its schedule was changed, and comes again, has its job. */
  private static void enqueue(Connection connection, Enqueue enqueue, List<Job> jobs)
      throws SQLException {
    try {
      enqueue.all(connection, jobs);
    } catch (RefusedException refused) {
      if (refused.refusal() != Refusal.ID_TAKEN) {
        throw refused;
      }
    }
  }

  /** The times that have come since: all of them, but a bounded number at once, or the last. */
  private static List<Instant> passed(Schedule schedule, Instant first, Instant now) {
    List<Instant> times = new ArrayList<>();
    for (Instant at = first; !at.isAfter(now); at = Schedules.next(schedule, at)) {
      if (schedule.missed() != WhenMissed.ALL) {
        times.clear();
      }
      times.add(at);
      if (times.size() == MOST_AT_ONCE) {
        break;
      }
    }
    return times;
  }

  private static List<Instant> chosen(Schedule schedule, List<Instant> passed, Instant now) {
    Instant last = passed.getLast();
    return switch (schedule.missed()) {
      case ALL -> passed;
      case ONCE -> List.of(last);
      case SKIP -> last.plus(ON_TIME).isBefore(now) ? List.of() : List.of(last);
    };
  }

  private static Job job(Schedule schedule, Instant at) {
    Job job =
        schedule.job().id(id(schedule.name(), at)).run(id(schedule.name(), at), schedule.name());
    return schedule.overlap() ? job : job.uniqueKey("schedule:" + schedule.name());
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
