package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
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
    return List.of(Finding.of(ProblemCode.WORKER_PAUSED));
  }

  private static List<Finding> stopped(Situation situation, WorkerHealth row) {
    if (isServedByOthers(situation, row.queue())
        || !situation.hasWaitingJobs(row.queue(), Duration.ZERO)) {
      return List.of();
    }
    return List.of(Finding.of(ProblemCode.WORKER_STOPPED));
  }

  private static boolean isServedByOthers(Situation situation, String queue) {
    return situation.isAskedFor(queue)
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
    return List.of(
        Finding.of(ProblemCode.WORKER_NOT_PROCESSING)
            .with(Finding.SECONDS, CLAIMED_WITHIN.toSeconds()));
  }

  private static boolean isHeldBack(QueueStatus queue) {
    Integer most = queue.maxRunning();
    return queue.isPaused()
        || queue.rateLimit() != null
        || (most != null && queue.running() >= most);
  }
}
