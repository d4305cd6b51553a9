package dev.holdfast.server;

import dev.holdfast.model.QueueStatus;
import dev.holdfast.model.Timings;
import dev.holdfast.model.Warnings;
import dev.holdfast.queue.Queue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What an operator should know without having asked for it, and what to do about it. */
final class Problems {
  /** A job that is due longer than this would have been taken if anybody were there. */
  private static final Duration TAKEN_WITHIN = Duration.ofMinutes(1);

  /** One thing that is wrong. */
  record Found(String what, String doNext) {}

  private final Queue queue;
  private final WaitingRoom room;
  private final Timings timings;

  Problems(Queue queue, WaitingRoom room, Timings timings) {
    this.queue = queue;
    this.room = room;
    this.timings = timings;
  }

  List<Found> of(Caller caller, List<QueueStatus> queues) {
    List<Found> found = new ArrayList<>();
    queues.forEach(each -> inQueue(each, found));
    // By then every reaper has had several chances.
    Duration overdue = timings.lease().plus(timings.reapGrace());
    Warnings warnings = queue.warnings(caller.onlyTenant(), overdue);
    if (warnings.failed() > 0) {
      found.add(
          new Found(
              "%,d jobs failed within the last hour".formatted(warnings.failed()),
              "look at why with GET /v1/jobs?state=FAILED, mend it, and put them back with"
                  + " POST /v1/jobs/retry"));
    }
    if (warnings.overdue() > 0) {
      found.add(
          new Found(
              "%,d jobs run under leases that ran out, and nobody takes them back"
                  .formatted(warnings.overdue()),
              "look into the logs of servers and workers: their upkeep does not reach the database"));
    }
    if (room.isDeaf()) {
      found.add(
          new Found(
              "notifications do not arrive: new jobs are found by polling, up to a second late",
              "connect to PostgreSQL directly, or through a pooler in session mode"));
    }
    return found;
  }

  private void inQueue(QueueStatus status, List<Found> found) {
    if (status.pausedAt() != null) {
      if (status.due() > 0) {
        found.add(
            new Found(
                "queue '%s' is paused and %,d jobs wait in it"
                    .formatted(status.name(), status.due()),
                "resume it with POST /v1/queues/%s/resume".formatted(status.name())));
      }
      return;
    }
    Duration oldest = status.oldest();
    if (status.due() > 0
        && status.running() == 0
        && oldest != null
        && oldest.compareTo(TAKEN_WITHIN) > 0
        && !room.isWaitedFor(status.name())) {
      found.add(
          new Found(
              "%,d jobs of queue '%s' are due and no worker takes them"
                  .formatted(status.due(), status.name()),
              "start a worker for it: holdfast worker --queue " + status.name()));
    }
  }
}
