package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.WorkerHealth;
import java.time.Duration;
import java.util.List;

/** A worker process is paused, stopped or idle while jobs of its queue wait. */
final class WorkerIdleRules {
  /** A worker that is running and idle is reported sooner than a queue without workers. */
  private static final Duration CLAIMED_WITHIN = Duration.ofSeconds(30);

  private WorkerIdleRules() {}

  static List<Finding> check(Situation situation, WorkerHealth row, boolean holdsJobs) {
    if (row.isStopped()) {
      return stopped(situation, row);
    }
    return switch (row.status()) {
      case HEALTHY -> {
        if (row.pausedByOperator()) {
          yield paused(situation, row);
        }
        yield holdsJobs || row.currentJob() != null ? List.of() : idle(situation, row);
      }
      case STARTING, STOPPING, CRASHED, FAILED -> List.of();
    };
  }

  private static List<Finding> paused(Situation situation, WorkerHealth row) {
    if (!situation.hasWaitingJobs(row.queue(), CLAIMED_WITHIN)) {
      return List.of();
    }
    return List.of(
        Finding.of(
            "worker_paused",
            situation.nameOf(row) + " is paused and jobs of its queue wait",
            "resume it with " + WorkerAdvice.command(row, "resume"),
            "resume it with " + WorkerAdvice.request(row, "resume")));
  }

  private static List<Finding> stopped(Situation situation, WorkerHealth row) {
    if (isServedByOthers(situation, row.queue())
        || !situation.hasWaitingJobs(row.queue(), Duration.ZERO)) {
      return List.of();
    }
    return List.of(
        Finding.of(
            "worker_stopped",
            situation.nameOf(row)
                + " is stopped, jobs of its queue wait, and no other worker serves it",
            "start it with " + WorkerAdvice.command(row, "resume"),
            "start it with " + WorkerAdvice.request(row, "resume")));
  }

  private static boolean isServedByOthers(Situation situation, String queue) {
    return situation.facts().waitedFor().contains(queue)
        || situation.workers().holders().stream()
            .anyMatch(holder -> holder.queues().contains(queue))
        || situation.workers().processes().stream()
            .anyMatch(other -> other.queue().equals(queue) && !other.isStopped());
  }

  private static List<Finding> idle(Situation situation, WorkerHealth row) {
    QueueStatus queue = situation.queue(row.queue());
    if (queue == null || isHeldBack(queue) || row.age().compareTo(CLAIMED_WITHIN) <= 0) {
      return List.of();
    }
    // Jobs of a concurrency key wait for as long as others of the key run: they do not count.
    Duration oldest = queue.oldestFree();
    if (oldest == null || oldest.compareTo(CLAIMED_WITHIN) <= 0) {
      return List.of();
    }
    String log = WorkerAdvice.log(row);
    return List.of(
        Finding.of(
            "worker_not_processing",
            "%s is healthy and idle although jobs of its queue have waited for more than %d seconds"
                .formatted(situation.nameOf(row), CLAIMED_WITHIN.toSeconds()),
            "see why with %s, then %s".formatted(log, WorkerAdvice.command(row, "restart")),
            "see why with %s on its machine, then %s"
                .formatted(log, WorkerAdvice.request(row, "restart"))));
  }

  private static boolean isHeldBack(QueueStatus queue) {
    Integer most = queue.maxRunning();
    return queue.isPaused()
        || queue.rateLimit() != null
        || (most != null && queue.running() >= most);
  }
}
