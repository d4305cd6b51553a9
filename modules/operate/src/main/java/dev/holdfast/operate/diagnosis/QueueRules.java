package dev.holdfast.operate.diagnosis;

import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.ProblemCode;
import dev.holdfast.model.ops.QueueStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Jobs of a queue wait: it is paused, its tasks cannot be pushed, or no worker claims them. */
final class QueueRules implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    return situation.facts().queues().stream()
        .flatMap(queue -> check(situation, queue).stream())
        .toList();
  }

  private static List<Finding> check(Situation situation, QueueStatus queue) {
    List<Finding> found = new ArrayList<>();
    QueueStatus.Push push = queue.push();
    DispatchError error = push == null ? null : push.error();
    if (error != null && !queue.isPaused()) {
      found.addAll(DispatchRules.check(situation, queue, error));
    }
    if (queue.due() > 0 && queue.pausedAt() != null) {
      found.add(of(ProblemCode.QUEUE_PAUSED, queue));
    } else if (isStalled(situation, queue)) {
      found.add(of(ProblemCode.QUEUE_STALLED, queue).with(Finding.PUSHED, push != null));
    }
    return found;
  }

  private static boolean isStalled(Situation situation, QueueStatus queue) {
    Duration oldest = queue.oldest();
    return queue.due() > 0
        && !queue.isPaused()
        && queue.running() == 0
        && oldest != null
        && oldest.compareTo(Situation.CLAIMED_WITHIN) > 0
        && !situation.isAskedFor(queue.name())
        && !situation.isExplained(queue.name());
  }

  private static Finding of(ProblemCode problem, QueueStatus queue) {
    return Finding.of(problem).with(Finding.JOBS, queue.due()).with(Finding.QUEUE, queue.name());
  }
}
