package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.model.value.Limits;
import java.util.List;

/**
 * How many tasks are due in these queues.
 *
 * @param most where counting may stop
 */
public record QueueDepth(List<String> queues, long most) {
  private static final long LARGEST = 1_000_000;

  public QueueDepth {
    queues = Fields.list("queues", queues, QueueWait.MOST);
    queues.forEach(Limits::queue);
    if (most < 1 || most > LARGEST) {
      throw Fields.wrong("most", "must lie between 1 and " + LARGEST);
    }
  }

  public static QueueDepth of(List<String> queues, long most) {
    return new QueueDepth(queues, Math.clamp(most, 1, LARGEST));
  }

  /** So many, or as many as counting went to. */
  public record Answer(long depth) {}
}
