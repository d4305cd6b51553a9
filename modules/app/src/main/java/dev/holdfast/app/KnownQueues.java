package dev.holdfast.app;

import dev.holdfast.contract.Control;
import dev.holdfast.model.Job;
import dev.holdfast.model.Limits;
import dev.holdfast.model.QueueStatus;
import dev.holdfast.model.Spelling;
import dev.holdfast.model.Statistics;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tells a queue from a typing error. A queue comes into being with its first job, so a setting of a
 * queue with a wrong name would be kept, and do nothing.
 */
final class KnownQueues {
  private KnownQueues() {}

  /**
   * Throws unless the queue has jobs or settings, or is named by a worker, schedule or setting.
   *
   * @param otherwise what else to do, for the message
   */
  static void require(String queue, Control control, Settings settings, String otherwise) {
    Limits.queue(queue);
    Set<String> known = new TreeSet<>(settings.list(Setting.QUEUES));
    known.add(Job.DEFAULT_QUEUE);
    settings.queues().forEach(each -> known.add(each.queue()));
    control.queues().stream().map(QueueStatus::name).forEach(known::add);
    if (known.contains(queue)) {
      return;
    }
    control.workers().workers().forEach(worker -> known.addAll(worker.queues()));
    control.schedules().forEach(each -> known.add(each.queue()));
    // Last, since it counts: jobs that have ended.
    control.statistics().rows().stream().map(Statistics.Row::queue).forEach(known::add);
    if (!known.contains(queue)) {
      Optional<String> near = Spelling.nearest(queue, known);
      throw new CommandException(
          ExitCode.NOT_FOUND,
          "no queue '%s' is known: %s%s"
              .formatted(
                  queue,
                  near.map(name -> "did you mean '" + name + "'?")
                      .orElse("'holdfast queues list' shows those in use"),
                  otherwise));
    }
  }
}
