package dev.holdfast.app.operate;

import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.QueueOperator;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Spelling;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tells a queue from a typing error. A queue exists from its first job on, so a setting of a queue
 * with a misspelled name would be stored without any effect.
 */
public final class KnownQueues {
  private KnownQueues() {}

  /**
   * Throws unless the queue has jobs or settings, or is named by a worker, schedule or setting.
   *
   * @param otherwise what else to do, for the message
   */
  public static void require(String queue, Operator operator, Settings settings, String otherwise) {
    Limits.queue(queue);
    Set<String> known = new TreeSet<>(settings.servedQueues());
    known.add(Job.DEFAULT_QUEUE);
    settings.queues().forEach(each -> known.add(each.queue()));
    operator.queues().list().stream().map(QueueOperator.View::name).forEach(known::add);
    if (known.contains(queue)) {
      return;
    }
    operator.workers().list().workers().forEach(worker -> known.addAll(worker.queues()));
    operator.schedules().list().forEach(each -> known.add(each.status().queue()));
    // Last, because it is slow: it counts jobs that have ended.
    operator.jobs().statistics().rows().stream().map(Statistics.Row::queue).forEach(known::add);
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
