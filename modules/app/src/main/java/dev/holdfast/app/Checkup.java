package dev.holdfast.app;

import dev.holdfast.contract.Control.Health;
import dev.holdfast.contract.Control.Health.Trouble;
import dev.holdfast.model.DatabaseVersion;
import dev.holdfast.model.QueueStatus;
import dev.holdfast.model.ScheduleStatus;
import dev.holdfast.model.Warnings;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What an operator should know, as the database shows it. */
final class Checkup {
  /** A job that is due longer than this would have been taken if anybody were there. */
  private static final Duration TAKEN_WITHIN = Duration.ofMinutes(1);

  /** By then every reaper has had several chances, whatever its timings. */
  private static final Duration TAKEN_BACK_WITHIN = Duration.ofMinutes(1);

  private Checkup() {}

  static Health of(Queue queue) {
    List<Trouble> problems = new ArrayList<>();
    queue.queues().forEach(each -> inQueue(each, problems));
    Warnings warnings = queue.warnings(null, TAKEN_BACK_WITHIN);
    if (warnings.failed() > 0) {
      problems.add(
          new Trouble(
              "%,d jobs failed within the last hour".formatted(warnings.failed()),
              "look at why with 'holdfast jobs list --state failed', mend it, and put them back"
                  + " with 'holdfast jobs retry --state failed'"));
    }
    if (warnings.overdue() > 0) {
      problems.add(
          new Trouble(
              "%,d jobs run under leases that ran out, and nobody takes them back"
                  .formatted(warnings.overdue()),
              "start a worker or a server, or look into the logs of those that run"));
    }
    Instant now = queue.now();
    queue.schedules().forEach(each -> overdue(each, now, problems));
    DatabaseVersion version = queue.version();
    return new Health(
        "holdfast %s on PostgreSQL %s, schema %d"
            .formatted(Version.text(), version.server(), version.schema()),
        problems);
  }

  private static void inQueue(QueueStatus queue, List<Trouble> problems) {
    if (queue.due() == 0) {
      return;
    }
    Duration oldest = queue.oldest();
    if (queue.pausedAt() != null) {
      problems.add(
          new Trouble(
              "queue '%s' is paused and %,d jobs wait in it".formatted(queue.name(), queue.due()),
              "resume it with 'holdfast queues resume %s'".formatted(queue.name())));
    } else if (queue.running() == 0 && oldest != null && oldest.compareTo(TAKEN_WITHIN) > 0) {
      problems.add(
          new Trouble(
              "%,d jobs of queue '%s' are due and no worker takes them"
                  .formatted(queue.due(), queue.name()),
              "start a worker for it: holdfast worker --queue " + queue.name()));
    }
  }

  private static void overdue(ScheduleStatus status, Instant now, List<Trouble> problems) {
    if (status.pausedAt() == null && status.nextAt().plus(TAKEN_WITHIN).isBefore(now)) {
      problems.add(
          new Trouble(
              "schedule '%s' was due at %s and nobody fired it"
                  .formatted(status.schedule().name(), status.nextAt()),
              "start a worker or a server: either fires schedules"));
    }
  }
}
