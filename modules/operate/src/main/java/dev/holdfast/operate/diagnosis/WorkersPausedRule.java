package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.QueueStatus;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/** All workers are paused while jobs wait. */
final class WorkersPausedRule implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    List<QueueStatus> queues = situation.facts().queues();
    long due = queues.stream().mapToLong(QueueStatus::due).sum();
    return queues.stream()
        .map(QueueStatus::workersPausedAt)
        .filter(Objects::nonNull)
        .findFirst()
        .filter(since -> due > 0)
        .map(since -> paused(since, due))
        .stream()
        .toList();
  }

  private static Finding paused(Instant since, long due) {
    return Finding.of(ProblemCode.ALL_PAUSED).with(Finding.JOBS, due).with(Finding.SINCE, since);
  }
}
