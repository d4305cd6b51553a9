package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Finding;
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
    DispatchError error = queue.dispatchError();
    if (error != null && !queue.isPaused()) {
      found.addAll(DispatchRules.check(situation, queue, error));
    }
    if (queue.due() > 0 && queue.pausedAt() != null) {
      found.add(paused(queue));
    } else if (isStalled(situation, queue)) {
      found.add(queue.pushed() ? notPushed(queue) : notClaimed(queue));
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
        && !situation.facts().waitedFor().contains(queue.name())
        && !situation.isExplained(queue.name());
  }

  private static Finding paused(QueueStatus queue) {
    return Finding.counting(
            "queue_paused",
            "queue '%s' is paused and ".formatted(queue.name()),
            queue.due(),
            " waits in it",
            " wait in it",
            "resume it with 'holdfast queues resume %s'".formatted(queue.name()),
            "resume it with POST /v1/queues/%s/resume".formatted(queue.name()))
        .with(Finding.QUEUE, queue.name());
  }

  private static Finding notPushed(QueueStatus queue) {
    return Finding.counting(
            "queue_stalled",
            "",
            queue.due(),
            " of queue '%s' is due and no server pushes it".formatted(queue.name()),
            " of queue '%s' are due and no server pushes them".formatted(queue.name()),
            "servers push the tasks of this queue: start one with 'holdfast server', or look into the"
                + " logs of those that run",
            "servers push the tasks of this queue: look into their logs")
        .with(Finding.QUEUE, queue.name())
        .with("pushed", true);
  }

  private static Finding notClaimed(QueueStatus queue) {
    String doNext = "start a worker for it: holdfast worker --queue " + queue.name();
    return Finding.counting(
            "queue_stalled",
            "",
            queue.due(),
            " of queue '%s' is due and no worker claims it".formatted(queue.name()),
            " of queue '%s' are due and no worker claims them".formatted(queue.name()),
            doNext,
            doNext)
        .with(Finding.QUEUE, queue.name());
  }
}
