package dev.holdfast.model.diagnosis;

import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.QueueStatus;
import java.util.List;

/** All workers are paused while jobs wait. */
final class AllPausedRule implements Rule {
  @Override
  public List<Finding> check(Situation situation) {
    long due = situation.facts().queues().stream().mapToLong(QueueStatus::due).sum();
    if (!situation.isAllPaused() || due == 0) {
      return List.of();
    }
    return List.of(
        Finding.counting(
                "all_paused",
                "all workers are paused, since "
                    + Moments.text(situation.facts().allPausedSince())
                    + ", and ",
                due,
                " waits",
                " wait",
                "resume them with 'holdfast workers resume --all'",
                "resume them with POST /v1/workers/resume")
            .with(Finding.SINCE, situation.facts().allPausedSince()));
  }
}
